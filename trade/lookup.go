package trade

import "time"

// ProducerByDocument is the kind of the lookup of a producer by CPF or CNPJ (chapter 4, after the table), as the configuration and [Awaited] name it.
const ProducerByDocument = "producer_by_document"

// Lookup is what the platform answered to a question by document.
type Lookup struct {
	Code    string // keyed hash of the document; the document itself is not kept
	ID      string // of the record on the platform; "" when there is none
	Message string // the API's message key when there is none
	FirstAt time.Time
	AskedAt time.Time
	NextAt  time.Time // it is asked again then: an id is believed until then, and so is its absence
	Tries   int       // questions without an id in a row
}
