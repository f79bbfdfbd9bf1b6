package apiclient

import (
	"errors"
	"strings"
)

// PersonType states whether a person is natural or legal (chapters 2.6 and 4, endpoint 5).
type PersonType string

// The person types.
const (
	// PF is a natural person (pessoa física), identified by CPF.
	PF PersonType = "PF"
	// PJ is a legal person (pessoa jurídica), identified by CNPJ.
	PJ PersonType = "PJ"
)

// PersonTypes lists the allowed person types in the order of chapter 2.6.
var PersonTypes = []PersonType{PF, PJ}

const (
	cpfLength  = 11
	cnpjLength = 14
)

// ParseDocument parses a CPF or a CNPJ as people write it. It returns the number as it is sent (11
// digits, or 14 digits and capital letters) and the person type: PF for a CPF, PJ for a CNPJ.
// Periods, hyphens, slashes and blanks are dropped. Letters are never dropped, because since July
// 2026 they are part of a CNPJ; lower-case letters become capitals.
//
// Length and check digits are verified. A number of one repeated character is refused although its
// check digits agree. No error contains the number. A valid number need not exist: a single wrong
// digit can go unnoticed.
func ParseDocument(s string) (number string, person PersonType, err error) {
	number, err = plainDocument(s)
	if err != nil {
		return "", "", err
	}
	switch len(number) {
	case cpfLength:
		err, person = checkCPF(number), PF
	case cnpjLength:
		err, person = checkCNPJ(number), PJ
	case cpfLength - 1, cnpjLength - 1:
		err = errors.New("is one character too short for a CPF (11) or CNPJ (14); a leading zero was probably lost")
	default:
		err = errors.New("is neither a CPF (11 digits) nor a CNPJ (14 characters)")
	}
	if err != nil {
		return "", "", err
	}
	return number, person, nil
}

// ParseCPF parses a CPF. See ParseDocument.
func ParseCPF(s string) (string, error) {
	return parseOne(s, cpfLength, "is not a CPF (11 digits)", checkCPF)
}

// ParseCNPJ parses a CNPJ, numeric or alphanumeric. See ParseDocument.
func ParseCNPJ(s string) (string, error) {
	return parseOne(s, cnpjLength, "is not a CNPJ (14 characters)", checkCNPJ)
}

func parseOne(s string, length int, other string, check func(string) error) (string, error) {
	number, err := plainDocument(s)
	if err == nil && len(number) != length {
		err = errors.New(other)
	}
	if err == nil {
		err = check(number)
	}
	if err != nil {
		return "", err
	}
	return number, nil
}

// punctuation is what people write between the characters of a document, including the no-break
// space and the longer hyphens of word processors.
const punctuation = ".-/ \t\u00a0\u2010\u2011\u2013"

// plainDocument removes the punctuation and converts letters to capitals. Only ASCII counts:
// package unicode takes a long s for a small S, and Arabic digits for digits.
func plainDocument(s string) (string, error) {
	var out strings.Builder
	for _, r := range strings.TrimSpace(s) {
		switch {
		case r >= '0' && r <= '9' || r >= 'A' && r <= 'Z':
			out.WriteRune(r)
		case r >= 'a' && r <= 'z':
			out.WriteRune(r - 'a' + 'A')
		case !strings.ContainsRune(punctuation, r):
			return "", errors.New("contains a character that no CPF or CNPJ has")
		}
	}
	if out.Len() == 0 {
		return "", errors.New("is empty; give a CPF or CNPJ")
	}
	return out.String(), nil
}

func checkCPF(number string) error {
	switch {
	case strings.Trim(number, "0123456789") != "":
		return errors.New("has the length of a CPF, but a CPF has digits only")
	case repeated(number):
		return errors.New("is no CPF: it repeats one digit")
	case !agrees(number[:10], 11) || !agrees(number, 11):
		return errors.New("is no CPF: its check digits do not agree; a digit is probably wrong")
	}
	return nil
}

func checkCNPJ(number string) error {
	switch {
	case strings.Trim(number[12:], "0123456789") != "":
		return errors.New("has the length of a CNPJ, but the last two characters of a CNPJ are digits")
	case repeated(number):
		return errors.New("is no CNPJ: it repeats one character")
	case !agrees(number[:13], 9) || !agrees(number, 9):
		return errors.New("is no CNPJ: its check digits do not agree; a character is probably wrong")
	}
	return nil
}

// repeated reports whether s is one character throughout. The check digits of such numbers agree,
// and people type them when they have no number.
func repeated(s string) bool { return strings.Trim(s, s[:1]) == "" }

// agrees reports whether the last character of s is the check digit of those before it. The weights
// are 2, 3, … from the right, and start again at 2 after most, which is 11 for a CPF (never
// reached) and 9 for a CNPJ. The value of a character is its ASCII code minus 48, so a digit has
// its own value and A has 17.
func agrees(s string, most int) bool {
	last := len(s) - 1
	sum, weight := 0, 2
	for i := last - 1; i >= 0; i-- {
		sum += int(s[i]-'0') * weight
		weight++
		if weight > most {
			weight = 2
		}
	}
	digit := 0
	if rest := sum % 11; rest >= 2 {
		digit = 11 - rest
	}
	return int(s[last]-'0') == digit
}

// documentForms returns the spellings in which an answer may contain documents that were sent as
// plain numbers.
func documentForms(numbers ...string) (forms []string) {
	for _, number := range numbers {
		switch len(number) {
		case cpfLength:
			forms = append(forms, number, number[:3]+"."+number[3:6]+"."+number[6:9]+"-"+number[9:])
		case cnpjLength:
			forms = append(forms, number,
				number[:2]+"."+number[2:5]+"."+number[5:8]+"/"+number[8:12]+"-"+number[12:])
		}
	}
	for _, f := range forms {
		if small := strings.ToLower(f); small != f {
			forms = append(forms, small)
		}
	}
	return forms
}
