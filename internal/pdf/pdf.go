package pdf

import (
	"bytes"
	"compress/zlib"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"strings"
	"time"
	"unicode/utf16"
)

// Info is what a document says of itself.
type Info struct {
	Title, Author, Subject, Producer string
	Identifier                       string // what it is a copy of, for programs
	Lang                             string // as in pt-BR
	Created                          time.Time
}

// Points are a length, in seventy-seconds of an inch.
type Points = float64

// Document is a document that is being written. Lengths are in points from the upper left corner.
type Document struct {
	info          Info
	width, height Points
	faces         [2]*face
	pages         []*bytes.Buffer
}

// New returns an empty document whose pages have a size.
func New(info Info, width, height Points) *Document {
	info.Created = info.Created.UTC().Truncate(time.Second)
	return &Document{info: info, width: width, height: height, faces: newFaces()}
}

// Page begins a new page.
func (d *Document) Page() { d.pages = append(d.pages, &bytes.Buffer{}) }

// Pages returns how many pages there are.
func (d *Document) Pages() int { return len(d.pages) }

// Style is how a text looks.
type Style struct {
	Size Points
	Bold bool
	Gray float64 // 0 = black
}

func (d *Document) face(s Style) *face {
	if s.Bold {
		return d.faces[1]
	}
	return d.faces[0]
}

// Width returns how wide a text is.
func (d *Document) Width(text string, s Style) Points {
	return Points(d.face(s).width(text)) * s.Size / 1000
}

// Text writes a text on a page, the first of which is 0, with its base line at y.
func (d *Document) Text(page int, x, y Points, s Style, text string) {
	font := 0
	if s.Bold {
		font = 1
	}
	fmt.Fprintf(d.pages[page], "BT %s g /F%d %s Tf %s %s Td %s Tj ET\n", number(s.Gray), font, number(s.Size),
		number(x), number(d.height-y), d.face(s).shown(text))
}

// Area fills a rectangle on a page.
func (d *Document) Area(page int, x, y, width, height Points, gray float64) {
	fmt.Fprintf(d.pages[page], "%s g %s %s %s %s re f\n", number(gray), number(x), number(d.height-y-height),
		number(width), number(height))
}

// number formats a length or a level of grey; more digits cannot be seen.
func number(n float64) string {
	return strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.2f", n), "0"), ".")
}

// objects are the objects of a file; the number of the first is 1.
type objects struct{ list [][]byte }

func (o *objects) add(text string) int {
	o.list = append(o.list, []byte(text))
	return len(o.list)
}

// next returns the number of the object that is added next.
func (o *objects) next() int { return len(o.list) + 1 }

// stream adds compressed data.
func (o *objects) stream(more string, data []byte) int {
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	_, _ = w.Write(data) // a buffer takes everything
	_ = w.Close()
	return o.plain("/Filter /FlateDecode "+more, packed.Bytes())
}

// plain adds data as it is.
func (o *objects) plain(more string, data []byte) int {
	return o.add(fmt.Sprintf("<< /Length %d %s >>\nstream\n%s\nendstream", len(data), more, data))
}

// file returns the file with a catalogue and the information about the document.
func (o *objects) file(catalog, info int) []byte {
	var out bytes.Buffer
	out.WriteString("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
	offsets := make([]int, len(o.list))
	for i, object := range o.list {
		offsets[i] = out.Len()
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	sum := sha256.Sum256(out.Bytes())
	id := strings.ToUpper(hex.EncodeToString(sum[:16]))
	at := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, offset := range offsets {
		fmt.Fprintf(&out, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&out, "trailer\n<< /Size %d /Root %d 0 R /Info %d 0 R /ID [<%s> <%s>] >>\nstartxref\n%d\n%%%%EOF\n",
		len(offsets)+1, catalog, info, id, id, at)
	return out.Bytes()
}

// srgb is the colour profile to which the levels of grey refer, of the International Color Consortium.
//
//go:embed sRGB2014.icc
var srgb []byte

// Bytes returns the file; signer may be nil.
func (d *Document) Bytes(signer *Signer) ([]byte, error) {
	o := &objects{}
	fonts := fmt.Sprintf("<< /F0 %d 0 R /F1 %d 0 R >>", d.faces[0].put(o), d.faces[1].put(o))
	var kids []string
	first, parent := 0, o.next()+2*len(d.pages)
	for i, content := range d.pages {
		more := ""
		if i == 0 && signer != nil {
			more = fmt.Sprintf(" /Annots [%d 0 R]", parent+1)
		}
		stream := o.stream("", content.Bytes())
		page := o.add(fmt.Sprintf("<< /Type /Page /Parent %d 0 R /MediaBox [0 0 %s %s] /Resources << /Font %s >>"+
			" /Contents %d 0 R%s >>", parent, number(d.width), number(d.height), fonts, stream, more))
		if i == 0 {
			first = page
		}
		kids = append(kids, fmt.Sprintf("%d 0 R", page))
	}
	o.add(fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", strings.Join(kids, " "), len(kids)))
	form := ""
	if signer != nil {
		widget := o.add(fmt.Sprintf("<< /Type /Annot /Subtype /Widget /FT /Sig /T (Signature) /F 132 /Rect [0 0 0 0]"+
			" /P %d 0 R /V %d 0 R >>", first, parent+2))
		o.add(signer.dictionary(d.info.Created))
		form = fmt.Sprintf(" /AcroForm << /Fields [%d 0 R] /SigFlags 3 >>", widget)
	}
	metadata := o.plain("/Type /Metadata /Subtype /XML", d.xmp())
	profile := o.stream("/N 3", srgb)
	catalog := o.add(fmt.Sprintf("<< /Type /Catalog /Pages %d 0 R /Metadata %d 0 R /Lang (%s)"+
		" /ViewerPreferences << /DisplayDocTitle true >> /OutputIntents [<< /Type /OutputIntent /S /GTS_PDFA1"+
		" /OutputConditionIdentifier (sRGB IEC61966-2.1) /Info (sRGB IEC61966-2.1) /DestOutputProfile %d 0 R >>]%s >>",
		parent, metadata, d.info.Lang, profile, form))
	info := o.add(fmt.Sprintf("<< /Title %s /Author %s /Subject %s /Producer %s /CreationDate (%s) /ModDate (%s) >>",
		hexText(d.info.Title), hexText(d.info.Author), hexText(d.info.Subject), hexText(d.info.Producer),
		pdfTime(d.info.Created), pdfTime(d.info.Created)))
	file := o.file(catalog, info)
	if signer == nil {
		return file, nil
	}
	return signer.sign(file)
}

func pdfTime(at time.Time) string { return "D:" + at.Format("20060102150405") + "+00'00'" }

func utf16Hex(text string) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(text)) {
		fmt.Fprintf(&b, "%04X", unit)
	}
	return b.String()
}

// hexText returns a text as a string of PDF.
func hexText(text string) string { return "<FEFF" + utf16Hex(text) + ">" }

// xmp returns the metadata, which must say the same as the information about the document.
func (d *Document) xmp() []byte {
	is := func(text string) string {
		var b bytes.Buffer
		_ = xml.EscapeText(&b, []byte(text)) // a buffer takes everything
		return b.String()
	}
	at := d.info.Created.Format(time.RFC3339)
	return []byte(`<?xpacket begin="` + "\uFEFF" + `" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:pdfaid="http://www.aiim.org/pdfa/ns/id/" xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:pdf="http://ns.adobe.com/pdf/1.3/">
<pdfaid:part>2</pdfaid:part><pdfaid:conformance>B</pdfaid:conformance>
<dc:format>application/pdf</dc:format><dc:identifier>` + is(d.info.Identifier) + `</dc:identifier>
<dc:title><rdf:Alt><rdf:li xml:lang="x-default">` + is(d.info.Title) + `</rdf:li></rdf:Alt></dc:title>
<dc:description><rdf:Alt><rdf:li xml:lang="x-default">` + is(d.info.Subject) + `</rdf:li></rdf:Alt></dc:description>
<dc:creator><rdf:Seq><rdf:li>` + is(d.info.Author) + `</rdf:li></rdf:Seq></dc:creator>
<xmp:CreateDate>` + at + `</xmp:CreateDate><xmp:ModifyDate>` + at + `</xmp:ModifyDate>
<pdf:Producer>` + is(d.info.Producer) + `</pdf:Producer>
</rdf:Description></rdf:RDF></x:xmpmeta>
<?xpacket end="r"?>`)
}
