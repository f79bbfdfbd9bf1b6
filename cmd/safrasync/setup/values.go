package setup

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/config"
)

// valueWords are the words by which a value of the API is recognised in an ERP, in lower case and
// without accents.
var valueWords = map[string][]string{
	"SOJA":  {"soja", "soy", "soybean", "soybeans"},
	"MILHO": {"milho", "corn", "maize"},
	"TRIGO": {"trigo", "wheat"},

	"SC":  {"sc", "saca", "sacas", "saco", "sacos", "sc60"},
	"KG":  {"kg", "quilo", "quilos", "kilo", "quilograma", "quilogramas"},
	"TON": {"ton", "t", "tl", "tn", "tonelada", "toneladas"},

	"COMPRA":           {"compra", "cp", "fixo", "preco fixo", "compra fixa", "purchase"},
	"A_FIXAR":          {"a fixar", "afixar", "af"},
	"FIXACAO_COMPRA":   {"fixacao compra", "fixacao de compra", "fixacao", "fc"},
	"FIXACAO_DEPOSITO": {"fixacao deposito", "fixacao de deposito", "fd"},

	"BRL": {"brl", "r$", "real", "reais"},
	"USD": {"usd", "us$", "u$", "dolar", "dolares", "dollar"},
	"EUR": {"eur", "euro", "euros"},

	"BALCAO":     {"balcao", "spot"},
	"DISPONIVEL": {"disponivel"},
	"FUTURO":     {"futuro", "future"},
	"EXPORTACAO": {"exportacao", "export"},

	"DINHEIRO": {"dinheiro", "especie", "ted", "pix", "cash"},
	"TROCA":    {"troca", "barter", "insumos"},
}

// How certain a proposed value is.
const (
	sure   = iota // the same word
	likely        // an abbreviation: a person must check it
	unknown
)

var spaces = regexp.MustCompile(`[\s_-]+`)

// proposeValue returns the API's value that a value of the ERP probably means.
func proposeValue(value string, allowed []string) (string, int) {
	word := strings.TrimSpace(spaces.ReplaceAllString(plainWord(value), " "))
	for _, api := range allowed {
		words := valueWords[strings.ToUpper(api)]
		switch {
		case word == spaces.ReplaceAllString(plainWord(api), " "), slices.Contains(words, word) &&
			(len(word) > 2 || strings.Contains(word, "$")):
			return api, sure
		case slices.Contains(words, word):
			return api, likely
		}
	}
	if api, only := onlyOne(allowed, func(api string) bool {
		return word != "" && strings.HasPrefix(plainWord(api), word)
	}); only {
		return api, likely
	}
	api, only := onlyOne(allowed, func(api string) bool { // as in SOJA EM GRAOS
		first, _, _ := strings.Cut(word, " ")
		return len(first) > 2 && slices.Contains(valueWords[strings.ToUpper(api)], first)
	})
	if only {
		return api, likely
	}
	return config.FillIn, unknown
}

func onlyOne(list []string, fits func(string) bool) (string, bool) {
	found := ""
	for _, item := range list {
		if fits(item) {
			if found != "" {
				return "", false
			}
			found = item
		}
	}
	return found, found != ""
}

var (
	shortHarvest = regexp.MustCompile(`^(\d{2})/(\d{2})$`)
	longHarvest  = regexp.MustCompile(`^(\d{4})/(\d{4})$`)
	mixedHarvest = regexp.MustCompile(`^(\d{4})/(\d{2})$`)
	tightHarvest = regexp.MustCompile(`^(\d{2})(\d{2})$`)
)

// proposeHarvest parses 25/26, 2025/26 and 2526. Other forms only a person can know.
func proposeHarvest(value string) (string, int) {
	if longHarvest.MatchString(value) {
		return value, sure
	}
	for i, form := range []*regexp.Regexp{shortHarvest, mixedHarvest, tightHarvest} {
		m := form.FindStringSubmatch(value)
		if m == nil {
			continue
		}
		first := m[1]
		if len(first) == 2 {
			first = "20" + first
		}
		second := "20" + m[2]
		if first != second && nextYear(first) != second {
			break
		}
		return first + "/" + second, []int{sure, sure, likely}[i]
	}
	return config.FillIn, unknown
}

func nextYear(year string) string {
	t, err := time.Parse("2006", year)
	if err != nil {
		return ""
	}
	return t.AddDate(1, 0, 0).Format("2006")
}

// dateForms are tried in this order; the first that fits most samples is proposed. "" is the
// database's own form and YYYY-MM-DD.
var dateForms = []string{
	"", "YYYYMMDD", "DD/MM/YYYY", "DD-MM-YYYY", "DD.MM.YYYY", "YYYY/MM/DD", "DDMMYYYY",
	"MM/DD/YYYY",
}

// emptyDates are dates that ERPs store for "none".
var emptyDates = []string{"1899-12-30", "1899-12-31", "1900-01-01", "1900-12-31"}

// guessDate returns the form of a column's dates, and the values that mean none. ok reports whether
// most values are dates.
func guessDate(samples []erp.Value) (form string, empty []string, ok bool) {
	hits := make([]int, len(dateForms))
	total := 0
	for _, v := range samples {
		text := v.Trimmed()
		if strings.Trim(text, "0/-. :") == "" {
			empty = addOnce(empty, text)
			continue
		}
		total++
		for i, f := range dateForms {
			if dateFits(v, text, f) {
				hits[i]++
			}
		}
		if len(text) >= 10 && slices.Contains(emptyDates, text[:10]) {
			empty = addOnce(empty, text[:10])
		}
	}
	best := slices.Index(hits, slices.Max(hits))
	return dateForms[best], empty, total > 0 && hits[best]*10 >= total*6
}

func dateFits(v erp.Value, text, form string) bool {
	if v.Kind == erp.Date || v.Kind == erp.Timestamp || v.Kind == erp.Instant {
		return form == ""
	}
	if form == "" {
		_, ok := v.Day(time.UTC)
		return ok
	}
	layout := strings.NewReplacer("YYYY", "2006", "MM", "01", "DD", "02").Replace(form)
	t, err := time.Parse(layout, text)
	return err == nil && t.Year() > 1850 && t.Year() < 2200
}

// numberSamples are the forms of numbers, tried in this order.
var numberSamples = []struct {
	sample string
	form   *regexp.Regexp
}{
	{"", regexp.MustCompile(`^[+-]?\d+(\.\d+)?$`)},
	{"1234,56", regexp.MustCompile(`^[+-]?\d+(,\d+)?$`)},
	{"1.234,56", regexp.MustCompile(`^[+-]?(\d+|\d{1,3}(\.\d{3})+)(,\d+)?$`)},
	{"1,234.56", regexp.MustCompile(`^[+-]?(\d+|\d{1,3}(,\d{3})+)(\.\d+)?$`)},
}

// guessNumber returns the form of a column's numbers, and whether some are zero. ok reports whether
// most values are numbers.
func guessNumber(samples []erp.Value) (form string, zeros, ok bool) {
	hits := make([]int, len(numberSamples))
	for _, v := range samples {
		text := v.Trimmed()
		numeric := v.Kind == erp.Int || v.Kind == erp.Number || v.Kind == erp.Float
		for i, n := range numberSamples {
			if numeric && i == 0 || v.Kind == erp.Text && n.form.MatchString(text) {
				hits[i]++
			}
		}
		zeros = zeros || text != "" && strings.Trim(text, "0.,") == ""
	}
	best := slices.Index(hits, slices.Max(hits))
	return numberSamples[best].sample, zeros, len(samples) > 0 && hits[best]*10 >= len(samples)*6
}

func addOnce(list []string, text string) []string {
	if slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}
