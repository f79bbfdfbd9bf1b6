package auth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	_ "embed" // the common passwords
	"encoding/base64"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"

	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/connlimit"
)

// The cost of a hash (argon2id): 19 MiB, two passes, one lane, as OWASP recommends.
const (
	hashMemory = 19 << 10 // KiB
	hashTime   = 2
	hashLength = 32
	saltLength = 16
)

// How many passwords are hashed at once, and for how many there is a place, waiting included: for
// browsers from which the person never logged in, of these for one address, and for the others.
// Each takes 19 MiB and a core. Fewer than the console's places, even for one address.
const (
	hashesAtOnce  = 2
	hashesUnknown = 6
	hashesEach    = 4
	hashesKnown   = 6
)

// The lengths of a password, in characters.
const (
	passwordLeast = 12
	passwordMost  = 128
)

// HashPassword returns what the ledger stores of a password: the algorithm, its cost, the salt and
// the hash.
func HashPassword(password string) string {
	salt := make([]byte, saltLength)
	_, _ = rand.Read(salt) // never fails
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=1$%s$%s", argon2.Version, hashMemory, hashTime,
		b64.EncodeToString(salt),
		b64.EncodeToString(argon2.IDKey([]byte(password), salt, hashTime, hashMemory, 1, hashLength)))
}

// passwordFits reports whether a password matches a stored hash. It takes the time of one hash even
// if the stored text is invalid.
func passwordFits(password, stored string) bool {
	var version, memory, time, lanes int
	salt, sum := make([]byte, saltLength), make([]byte, hashLength)
	parts := strings.Split(stored, "$")
	ok := len(parts) == 6 && parts[1] == "argon2id"
	if ok {
		_, errVersion := fmt.Sscanf(parts[2], "v=%d", &version)
		_, errCost := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &memory, &time, &lanes)
		s, errSalt := base64.RawStdEncoding.DecodeString(parts[4])
		h, errSum := base64.RawStdEncoding.DecodeString(parts[5])
		ok = errVersion == nil && errCost == nil && errSalt == nil && errSum == nil && version == argon2.Version &&
			len(s) > 0 && len(h) == hashLength &&
			memory > 0 && memory <= 1<<20 && time > 0 && time <= 100 && lanes > 0 && lanes <= 16
		if ok {
			salt, sum = s, h
		}
	}
	if !ok {
		memory, time, lanes = hashMemory, hashTime, 1
	}
	got := argon2.IDKey([]byte(password), salt, uint32(time), uint32(memory), uint8(lanes), hashLength)
	return subtle.ConstantTimeCompare(got, sum) == 1 && ok
}

//go:embed common.txt
var commonText string

// ourCommon are passwords that are common here.
var ourCommon = []string{
	"safrasync", "cooperativa", "contabilidade", "administrador", "administrator", "agricultura", "colheita", "soja",
	"milho", "trigo", "senha", "senhasenha", "mudar", "trocar", "bemvindo",
	"brasil", "contrato", "plataforma",
	"fazenda", "lavoura", "produtor", "coop", "colheitadeira", "trator", "hexa", "penta", "deus", "fiel", "jesus",
	"primavera", "verao", "outono", "inverno", "janeiro", "fevereiro", "marco", "abril", "maio", "junho", "julho",
	"agosto", "setembro", "outubro", "novembro", "dezembro",
}

// isCommon reports whether a password is among those that everybody tries first. It is called so
// rarely that it searches the text; a map would take a megabyte in each process.
func isCommon(password string) bool {
	if slices.Contains(ourCommon, password) {
		return true
	}
	line := password + "\n"
	return !strings.Contains(password, "\n") &&
		(strings.HasPrefix(commonText, line) || strings.Contains(commonText, "\n"+line))
}

// PasswordFault returns why a password may not be used, as the key of a phrase; "" if it may be
// used. All characters are allowed, and nothing is truncated.
func PasswordFault(password, name string) string {
	n := utf8.RuneCountInString(password)
	switch {
	case !utf8.ValidString(password):
		return "password.unreadable"
	case n < passwordLeast:
		return "password.short"
	case n > passwordMost:
		return "password.long"
	}
	// those that are tried first: a common one, the person's name, or one of these with digits and signs
	// around it, or repeated; or if it is made of nothing but the name and words that everybody here tries,
	// with digits, signs and blanks
	text := strings.ToLower(password)
	core := trimmed(text)
	plain := leet.Replace(text)
	for _, candidate := range []string{
		text, core, unrepeated(text), unrepeated(core), trimmed(unrepeated(text)), plain,
		leet.Replace(core), trimmed(plain),
	} {
		if slices.Contains(grains, candidate) || candidate != "" && len(candidate) < 4 || isCommon(candidate) ||
			candidate == strings.ToLower(name) {
			return "password.common"
		}
	}
	if onlyLetters(text) != "" && (len(rest(text, name)) < restLeast || len(rest(plain, name)) < restLeast) {
		return "password.common"
	}
	return ""
}

// restLeast is how many letters of a password must be left without what everybody tries.
const restLeast = 4

// rest returns the letters of a password, without accents, that are left without the person's name
// and the words that everybody here tries.
func rest(text, name string) string {
	letters := onlyLetters(text)
	words := slices.Concat(grains, ourCommon, towns)
	name = onlyLetters(strings.ToLower(name))
	if name != "" {
		words = append(words, name)
	}
	for i, word := range words {
		words[i] = onlyLetters(word)
	}
	slices.SortFunc(words, func(a, b string) int { return len(b) - len(a) }) // "safrinha" before "safra"
	for _, word := range words {
		letters = strings.ReplaceAll(letters, word, " ")
	}
	return strings.ReplaceAll(letters, " ", "")
}

// onlyLetters returns the letters of a text, without their accents.
func onlyLetters(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) {
			return -1
		}
		return r
	}, norm.NFKD.String(text))
}

// towns are the towns of the grain regions and the capitals, which with a year are first guesses.
var towns = []string{
	"acreuna", "alto garcas", "apucarana", "arapongas", "aracaju", "assis", "balsas", "barreiras", "bage", "belem",
	"belo horizonte", "boa vista", "bom jesus", "brasilia", "cachoeira do sul", "caarapo", "campo grande",
	"campo mourao", "campo novo do parecis", "campo verde", "campos novos", "canarana", "carazinho", "cascavel",
	"castro", "chapadao do ceu", "chapadao do sul", "chapeco", "cianorte", "correntina", "costa rica", "cristalina",
	"cruz alta", "cuiaba", "curitiba", "curitibanos", "diamantino", "dourados", "erechim", "florianopolis",
	"formosa", "fortaleza", "foz do iguacu", "francisco beltrao", "goiania", "goias", "guaira", "guarapuava", "ijui",
	"itapeva", "itiquira", "itumbiara", "jatai", "joao pessoa", "juara", "lapa", "londrina", "lucas",
	"lucas do rio verde", "luis eduardo magalhaes", "macapa", "maceio", "manaus", "maracaju", "marechal candido rondon",
	"maringa",
	"mato grosso", "medianeira", "mineiros", "montividiu", "natal", "naviral", "navirai", "nova mutum", "palmas",
	"palotina", "paracatu", "parana", "paranagua", "paranavai", "passo fundo", "pato branco", "patos de minas",
	"pelotas", "ponta grossa", "ponta pora", "porto alegre", "porto velho", "primavera do leste", "querencia",
	"recife", "rio branco", "rio brilhante", "rio de janeiro", "rio grande do sul", "rio verde", "rolandia",
	"rondonopolis", "salvador", "santa catarina", "santa rosa", "santarem", "santo angelo", "sao gabriel do oeste",
	"sao luis", "sao paulo", "sapezal", "sidrolandia", "sinop", "sorriso", "tangara da serra", "teresina", "tibagi",
	"toledo", "uberaba", "uberlandia", "umuarama", "unai", "urucui", "vacaria", "vilhena", "vitoria", "xanxere",
}

// grains are words of the business; with a year added they are the first guesses here.
var grains = []string{
	"soja", "milho", "trigo", "sorgo", "arroz", "aveia", "cevada", "feijao", "feijão", "algodao",
	"algodão", "cafe", "café", "canola", "girassol", "safra", "safrinha", "safrasync", "cooperativa",
}

// trimmed removes everything before the first and after the last letter.
func trimmed(text string) string {
	return strings.TrimFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
}

var leet = strings.NewReplacer("@", "a", "4", "a", "3", "e", "1", "i", "!", "i", "0", "o", "$", "s", "5", "s", "7", "t")

// unrepeated returns the shortest part of which a text is a repetition.
func unrepeated(text string) string {
	for n := 1; n <= len(text)/2; n++ {
		if len(text)%n == 0 && strings.Repeat(text[:n], len(text)/n) == text {
			return text[:n]
		}
	}
	return text
}

// hasher limits how many passwords are hashed at once, and how many wait for that.
type hasher struct {
	running, unknown, known chan struct{}
	each                    connlimit.Count
	nobody                  string // the hash to compare with for an unknown name
	compared                func() // called for each comparison; for tests
}

func newHasher() *hasher {
	return &hasher{
		running: make(chan struct{}, hashesAtOnce), unknown: make(chan struct{}, hashesUnknown),
		known: make(chan struct{}, hashesKnown), nobody: unknownHash, compared: func() {},
	}
}

// unknownHash has the same cost as any other hash, and no password matches it.
var unknownHash = fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=1$%s$%s", argon2.Version, hashMemory, hashTime,
	strings.Repeat("A", 22), strings.Repeat("A", 43))

// enter waits for a place to hash a password. The caller must call leave. Unknown browsers take no
// place from known ones, and those of one address not all from those of others.
func (h *hasher) enter(ctx context.Context, from string, known bool) (leave func(), err error) {
	places, out := h.known, func() {}
	if !known {
		address, _ := netip.ParseAddr(from) // what is no address counts as one
		var ok bool
		out, ok = h.each.Enter(address, hashesEach)
		if !ok {
			return nil, web.ErrBusy
		}
		places = h.unknown
	}
	select {
	case places <- struct{}{}:
	default:
		out()
		return nil, web.ErrBusy
	}
	select {
	case h.running <- struct{}{}:
		return func() { <-h.running; <-places; out() }, nil
	case <-ctx.Done():
		<-places
		out()
		return nil, web.ErrBusy
	}
}

// fits reports whether a password matches a hash; the caller must hold a place. stored is "" for an
// unknown name, which takes the same time.
func (h *hasher) fits(password, stored string) bool {
	h.compared()
	if utf8.RuneCountInString(password) > passwordMost {
		password = ""
	}
	if stored == "" {
		return passwordFits(password, h.nobody) && false
	}
	return passwordFits(password, stored)
}

// hash returns what to store of a new password, which a person who is logged in has given.
func (h *hasher) hash(q *web.Request, password string) (string, error) {
	leave, err := h.enter(q.Context(), q.From, true)
	if err != nil {
		return "", err
	}
	defer leave()
	return HashPassword(password), nil
}
