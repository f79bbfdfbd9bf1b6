package trade

import (
	"errors"
	"regexp"
	"strings"
)

// Forms of a CAR number, the registration of a rural property: the whole one of the federal register, and the mere shape that chapter 2.2 shows.
var (
	carForm  = regexp.MustCompile(`^([A-Z]{2})-(\d{7})-([0-9A-F]{32})$`)
	carShape = regexp.MustCompile(`^[A-Z]{2}-[0-9A-Z]+-[0-9A-Z]+$`)
)

// states are the federative units with their IBGE numbers, which begin the number of a municipality.
var states = map[string]string{
	"RO": "11", "AC": "12", "AM": "13", "RR": "14", "PA": "15", "AP": "16", "TO": "17", "MA": "21", "PI": "22", "CE": "23", "RN": "24", "PB": "25", "PE": "26",
	"AL": "27", "SE": "28", "BA": "29", "MG": "31", "ES": "32", "RJ": "33", "SP": "35", "PR": "41", "SC": "42", "RS": "43", "MS": "50", "MT": "51", "GO": "52", "DF": "53",
}

// canonicalCAR writes a CAR as it leaves: upper case, without blanks and without the dots that receipts print between groups.
func canonicalCAR(text string) string {
	return carPrinted.Replace(strings.ToUpper(text))
}

var carPrinted = strings.NewReplacer(".", "", " ", "")

// ParseCAR reads a CAR number in any of the ways in which it is printed and gives its canonical form UF-NNNNNNN-<32 hex digits>: the state, its
// municipality in the numbers of IBGE, and the register's code. The error does not repeat the text.
func ParseCAR(text string) (string, error) {
	car := canonicalCAR(text)
	m := carForm.FindStringSubmatch(car)
	switch {
	case m == nil:
		return "", errors.New("is not in the form UF-NNNNNNN-<32 hex digits>")
	case states[m[1]] == "":
		return "", errors.New("begins with no federative unit of Brazil")
	}
	return car, nil
}

// carAtHome tells whether the municipality of a canonical CAR lies in its federative unit. Registers have been wrong about that, so that it is a remark.
func carAtHome(car string) bool {
	return strings.HasPrefix(car[len("UF-"):], states[car[:len("UF")]])
}
