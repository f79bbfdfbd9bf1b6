// Package pdf writes plain documents that must be readable in ten years and provable until then:
// PDF/A-2b (ISO 19005-2) of text, lines and areas of grey, with embedded fonts, optionally signed as
// PAdES baseline B-B asks for. It reads no PDF but to verify what it wrote: [Verify].
//
// Libraries were tried: fpdf writes no file identifier and no field for a signature, gopdf no XMP; both
// would have to be rewritten after they wrote. What this needs of PDF is small.
package pdf
