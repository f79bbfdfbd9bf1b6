package main

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"encoding/hex"
	"image/color"
	"image/png"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

var (
	pdfObject   = regexp.MustCompile(`(?s)(\d+) 0 obj\n(.*?)\nendobj`)
	pdfStream   = regexp.MustCompile(`(?s)stream\r?\n(.*)\r?\nendstream`)
	pdfContents = regexp.MustCompile(`/Contents\s+(\d+) 0 R`)
	pdfUnicode  = regexp.MustCompile(`/ToUnicode\s+(\d+) 0 R`)
	pdfPage     = regexp.MustCompile(`/Type\s*/Page\b`)
	pdfFont     = regexp.MustCompile(`/(F\d+) (\d+) 0 R`)
	pdfAcross   = regexp.MustCompile(`/MediaBox \[0 0 84[12]\S* 59[456]`)
	pdfShown    = regexp.MustCompile(`/(F\d+) [\d.]+ Tf|<([0-9A-Fa-f]+)>`)
	pdfPairs    = regexp.MustCompile(`<([0-9A-Fa-f]{4})> (?:<([0-9A-Fa-f]{4})> )?<([0-9A-Fa-f]{4})>`)
)

// printed prints the page and returns the texts of its sheets, without their spaces, in their order.
func (c *chrome) printed() (sheets []string) {
	c.t.Helper()
	t := c.t
	pdf := must.Get(chromedp.Call(c.ctx, page.PrintToPDF, page.PrintToPDFParams{
		PreferCSSPageSize: new(true), PrintBackground: new(true),
	}))(t).Data
	objects := map[string][]byte{} // by their numbers
	for _, object := range pdfObject.FindAllSubmatch(pdf, -1) {
		objects[string(object[1])] = object[2]
		if pdfPage.Match(object[2]) && !pdfAcross.Match(object[2]) {
			t.Errorf("a sheet is not A4 across: %s", object[2])
		}
	}
	stream := func(number string) string { // what an object has in it
		t.Helper()
		found := pdfStream.FindSubmatch(objects[number])
		if found == nil {
			t.Fatalf("object %s has nothing in it", number)
		}
		z := must.Get(zlib.NewReader(bytes.NewReader(found[1])))(t)
		text := must.Get(io.ReadAll(z))(t)
		return string(text)
	}
	numbers := slices.SortedFunc(maps.Keys(objects), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	for _, number := range numbers {
		object := objects[number]
		contents := pdfContents.FindSubmatch(object)
		if !pdfPage.Match(object) || contents == nil {
			continue
		}
		letters := map[string]map[string]string{} // by the name of a font
		for _, font := range pdfFont.FindAllSubmatch(object, -1) {
			table := map[string]string{}
			if unicode := pdfUnicode.FindSubmatch(objects[string(font[2])]); unicode != nil {
				for _, pair := range pdfPairs.FindAllStringSubmatch(stream(string(unicode[1])), -1) {
					from, _ := strconv.ParseInt(pair[1], 16, 32)
					last, _ := strconv.ParseInt(cmp.Or(pair[2], pair[1]), 16, 32)
					to, _ := strconv.ParseInt(pair[3], 16, 32)
					for i := from; i <= last; i++ {
						table[hex.EncodeToString([]byte{byte(i >> 8), byte(i)})] = string(rune(to + i - from))
					}
				}
			}
			letters[string(font[1])] = table
		}
		var text strings.Builder
		font := ""
		for _, shown := range pdfShown.FindAllStringSubmatch(stream(string(contents[1])), -1) {
			font = cmp.Or(shown[1], font)
			for glyphs := strings.ToLower(shown[2]); len(glyphs) >= 4; glyphs = glyphs[4:] {
				text.WriteString(letters[font][glyphs[:4]])
			}
		}
		sheets = append(sheets, strings.Join(strings.Fields(text.String()), ""))
	}
	for i := range sheets { // a font may have glyphs for two letters
		sheets[i] = strings.NewReplacer("ﬀ", "ff", "ﬁ", "fi").Replace(sheets[i])
	}
	return sheets
}

// printPicture keeps a picture of the page as it is printed, for review, with the artifacts of the long
// test, and wants something to be on it.
func (c *chrome) printPicture(name string) {
	c.t.Helper()
	if !long {
		return
	}
	must.Get(chromedp.Call(c.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"}))(c.t)
	shot := must.Get(chromedp.Run(c.ctx, chromedp.CaptureScreenshot()))(c.t)
	picture := must.Get(png.Decode(bytes.NewReader(shot)))(c.t)
	colours := map[color.Color]bool{}
	for x := range picture.Bounds().Dx() {
		for y := range picture.Bounds().Dy() {
			colours[picture.At(x, y)] = true
		}
	}
	if len(colours) < 10 {
		c.t.Errorf("the print of %s has %d colours", name, len(colours))
	}
	must.Do(c.t, os.WriteFile(filepath.Join(c.t.ArtifactDir(), name+".png"), shot, 0o644))
}

// A month that was closed is printed from its page: on A4 across, with the hash, the day and the
// number of the page on each, all parts of the report, and nothing that is for the screen.
func TestChromiumPrintsAClosingWithItsHashOnEachPage(t *testing.T) {
	t.Parallel()
	d := newDemoDesk(t)
	b := d.as(trade.Accountant).Get("/report")
	b.Submit("/report/close/plan", url.Values{"month": {"2026-10"}}).Wants(http.StatusOK, "Lista de conferência")
	b.Post("/report/close/do", with(b.Form("/report/close/do"), "reason", "outubro conferido", "signed",
		"1")).Wants(http.StatusOK, "O mês foi fechado")
	list, err := d.host.Store.Closings(t.Context(), trade.Date{})
	if err != nil || len(list) != 1 {
		t.Fatal(len(list), err)
	}
	c := newChrome(t, d.server.URL, 1280, 800)
	complaints := c.complaints()
	c.logIn(trade.Accountant)
	c.open("/report/closings/" + list[0].ID)
	c.accessible("closed month")
	pages := c.printed()
	c.printPicture("closing")
	all := strings.Join(pages, "\n")
	for i, text := range pages {
		if !strings.Contains(text, "SHA-256"+list[0].Hash) || !strings.Contains(text, "Fechamentode10/2026") ||
			!strings.Contains(text, "/"+strconv.Itoa(len(pages))) {
			t.Errorf("page %d of %d does not say which closing it is:\n%s", i+1, len(pages), text)
		}
	}
	for _, text := range []string{
		"Registrodaauditoria", "Pontosemaberto", "outubroconferido", "Anexo:aplanilha(XLSX)",
	} {
		if !strings.Contains(all, text) {
			t.Errorf("%s is not printed", text)
		}
	}
	for _, text := range []string{"fechadoporcarla,", "Contratado", "noERP", "R$", "Pontosemaberto:6"} {
		if !strings.Contains(pages[0], text) {
			t.Errorf("the first sheet lacks %s:\n%s", text, pages[0])
		}
	}
	_, hands, _ := strings.Cut(pages[len(pages)-1], "Anexo:")
	if !strings.Contains(hands, "carlaContabilidadeDiretoria") || !strings.Contains(all, "Sobrasemexplicação:0") {
		t.Errorf("nobody signs below what is open:\n%s", hands)
	}
	if strings.Contains(all, "Agendamentos") || strings.Contains(all, "Sair") {
		t.Errorf("%d pages, with what is for the screen:\n%s", len(pages), all)
	}
	if list := complaints(); len(list) > 0 {
		t.Errorf("the browser complains: %s", strings.Join(list, "; "))
	}
}

// The list of documents begins on the first sheet, below its heading, each sheet has the heads of the
// columns, and none is empty. What leads elsewhere is not printed.
func TestChromiumPrintsTheListFromTheFirstSheetOn(t *testing.T) {
	t.Parallel()
	d := newDemoDesk(t)
	c := newChrome(t, d.server.URL, 1366, 768)
	c.logIn(trade.Accountant)
	c.open("/rows")
	first := must.Get(chromedp.Run(c.ctx, chromedp.Evaluate[string](`document.querySelector("main tbody th").innerText`)))(t)
	sheets := c.printed()
	c.printPicture("list")
	if len(sheets) < 2 || !strings.Contains(sheets[0], strings.Join(strings.Fields(first), "")) {
		t.Errorf("%d sheets, and the first has no %q:\n%s", len(sheets), first, sheets[0])
	}
	for i, text := range sheets {
		if !strings.Contains(text, "Situação") || strings.Contains(text, "Próximapágina") ||
			strings.Contains(text, "Filtrosguardados") {
			t.Errorf("sheet %d has no head, or what leads elsewhere:\n%s", i+1, text)
		}
	}
	c.open("/audit")
	all := strings.Join(c.printed(), "\n")
	if strings.Contains(all, "Detalhe") || strings.Contains(all, "ExportarCSV") {
		t.Errorf("the audit is printed with what is for the screen:\n%s", all)
	}
}

// A closed month is one page of HTML to print: the account of each product on its cover, the hash at its
// foot, and lines to sign on.
func TestAClosedMonthIsOnePageToPrint(t *testing.T) {
	t.Parallel()
	d := newDemoDesk(t)
	b := d.as(trade.Accountant).Get("/report")
	b.Submit("/report/close/plan", url.Values{"month": {"2026-10"}}).Wants(http.StatusOK)
	b.Post("/report/close/do", with(b.Form("/report/close/do"), "reason", "outubro conferido", "signed",
		"1")).Wants(http.StatusOK, "O mês foi fechado")
	closing := must.Get(d.host.Store.Closings(t.Context(), trade.Date{}))(t)[0]
	b.Get("/report/closings/" + closing.ID)
	b.Post("/report/export", with(b.Form("/report/export"), "format", "html")).Wants(http.StatusOK,
		"Do ERP à plataforma, por produto", "contratado (t)", "contratado (sc)", "valor fixado (R$)", "aguardando",
		"@bottom-left", closing.Hash, "Fechado por", closing.Who, "outubro conferido")
}
