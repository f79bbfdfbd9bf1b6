package pdf

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// face is an embedded font, and what is used of it. Its glyphs are those of the Go fonts, which may be
// embedded without a condition.
type face struct {
	name   string
	file   []byte
	font   *sfnt.Font
	buffer sfnt.Buffer
	glyphs map[rune]glyph
}

type glyph struct {
	index sfnt.GlyphIndex
	width int // in thousandths of the size
}

func newFace(name string, file []byte) *face {
	parsed, err := sfnt.Parse(file)
	if err != nil {
		panic(err) // the file is in the program
	}
	return &face{name: name, file: file, font: parsed, glyphs: map[rune]glyph{}}
}

func newFaces() [2]*face {
	return [2]*face{newFace("GoRegular", goregular.TTF), newFace("GoBold", gobold.TTF)}
}

// of returns the glyph of a character. A character that the font lacks is shown as a question mark: no
// text of a PDF/A may show the glyph of nothing.
func (f *face) of(r rune) glyph {
	if g, ok := f.glyphs[r]; ok {
		return g
	}
	index, err := f.font.GlyphIndex(&f.buffer, r)
	if err != nil || index == 0 {
		if r == '?' {
			panic("the font has no question mark")
		}
		return f.of('?')
	}
	em := fixed.I(int(f.font.UnitsPerEm()))
	advance, err := f.font.GlyphAdvance(&f.buffer, index, em, font.HintingNone)
	if err != nil {
		panic(err)
	}
	g := glyph{index, int(advance) * 1000 / int(em)}
	f.glyphs[r] = g
	return g
}

func (f *face) width(text string) (thousandths int) {
	for _, r := range text {
		thousandths += f.of(r).width
	}
	return thousandths
}

// shown returns the operand that shows a text.
func (f *face) shown(text string) string {
	var b strings.Builder
	b.WriteByte('<')
	for _, r := range text {
		fmt.Fprintf(&b, "%04X", int(f.of(r).index))
	}
	b.WriteByte('>')
	return b.String()
}

// used returns the characters of the glyphs that were shown, by glyph.
func (f *face) used() (glyphs []sfnt.GlyphIndex, runes map[sfnt.GlyphIndex]rune, widths map[sfnt.GlyphIndex]int) {
	runes, widths = map[sfnt.GlyphIndex]rune{}, map[sfnt.GlyphIndex]int{}
	for _, r := range slices.Sorted(maps.Keys(f.glyphs)) {
		g := f.glyphs[r]
		if _, ok := runes[g.index]; !ok {
			runes[g.index], widths[g.index] = r, g.width
		}
	}
	return slices.Sorted(maps.Keys(runes)), runes, widths
}

// put writes the font, and returns its object.
func (f *face) put(o *objects) int {
	file := o.stream(fmt.Sprintf("/Length1 %d", len(f.file)), f.file)
	metrics, err := f.font.Metrics(&f.buffer, fixed.I(1000), font.HintingNone)
	if err != nil {
		panic(err)
	}
	box, err := f.font.Bounds(&f.buffer, fixed.I(1000), font.HintingNone)
	if err != nil {
		panic(err)
	}
	descriptor := o.add(fmt.Sprintf("<< /Type /FontDescriptor /FontName /%s /Flags 4 /FontBBox [%d %d %d %d]"+
		" /ItalicAngle 0 /Ascent %d /Descent %d /CapHeight %d /StemV 80 /FontFile2 %d 0 R >>", f.name,
		box.Min.X.Floor(), -box.Max.Y.Ceil(), box.Max.X.Ceil(), -box.Min.Y.Floor(),
		metrics.Ascent.Round(), -metrics.Descent.Round(), metrics.CapHeight.Round(), file))
	glyphs, runes, width := f.used()
	var widths, unicode bytes.Buffer
	for _, g := range glyphs {
		fmt.Fprintf(&widths, "%d [%d] ", g, width[g])
	}
	unicode.WriteString("/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n" +
		"/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def\n/CMapName /Adobe-Identity-UCS def\n" +
		"/CMapType 2 def\n1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange\n")
	for part := range slices.Chunk(glyphs, 100) {
		fmt.Fprintf(&unicode, "%d beginbfchar\n", len(part))
		for _, g := range part {
			fmt.Fprintf(&unicode, "<%04X> <%s>\n", int(g), utf16Hex(string(runes[g])))
		}
		unicode.WriteString("endbfchar\n")
	}
	unicode.WriteString("endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n")
	descendant := o.add(fmt.Sprintf("<< /Type /Font /Subtype /CIDFontType2 /BaseFont /%s"+
		" /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /FontDescriptor %d 0 R"+
		" /CIDToGIDMap /Identity /DW 0 /W [%s] >>", f.name, descriptor, strings.TrimSpace(widths.String())))
	return o.add(fmt.Sprintf("<< /Type /Font /Subtype /Type0 /BaseFont /%s /Encoding /Identity-H"+
		" /DescendantFonts [%d 0 R] /ToUnicode %d 0 R >>", f.name, descendant, o.stream("", unicode.Bytes())))
}
