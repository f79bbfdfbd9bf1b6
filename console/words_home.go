package console

var homeWords = map[string]phrase{
	"home.title": {"Início", "Home"},
}
