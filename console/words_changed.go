package console

var changedWords = map[string]phrase{
	"changed.title":        {"Alterado após o envio", "Changed after sending"},
	"changed.what":         {"A plataforma tem o que foi enviado; o ERP tem outra coisa agora. A API não altera nem apaga: acerte lá à mão e depois dê por tratado, com a evidência.", "The platform has what was sent; the ERP has something else now. The API neither alters nor deletes: put it right there by hand, then say that it has been dealt with, with the evidence."},
	"changed.none":         {"Nada mudou depois do envio que espere por alguém.", "Nothing changed after it was sent that waits for somebody."},
	"changed.weight":       {"Enviado %s, agora %s: diferença de %s", "Sent %s, now %s: a difference of %s"},
	"changed.value":        {"Diferença em valor: %s", "Difference in value: %s"},
	"changed.other":        {"A moeda era %s e agora é %s: os valores não se comparam.", "The currency was %s and is %s now: the values cannot be compared."},
	"changed.column":       {"coluna %s", "column %s"},
	"changed.masked":       {"documento, não mostrado", "a document, not shown"},
	"changed.id":           {"Id na plataforma", "Id on the platform"},
	"changed.go":           {"Dar por tratado o que está marcado", "Deal with what is marked"},
	"changed_plan.title":   {"Dar por tratado", "Dealt with"},
	"changed.plan":         {"%s: a marca some até a próxima mudança no ERP. A plataforma não muda.", "%s: the flag goes until the ERP changes again. The platform does not change."},
	"changed.evidence":     {"Evidência: o que foi acertado na plataforma, quando e por quem", "Evidence: what was put right on the platform, when and by whom"},
	"changed.confirm":      {"Dar por tratado", "Dealt with"},
	"told.changed.nothing": {"Nada do que foi marcado pode ser dado por tratado agora.", "Nothing that was marked can be dealt with now."},
	"told.changed.done":    {"Dado por tratado. A evidência está na auditoria.", "Dealt with. The evidence is in the audit."},
}
