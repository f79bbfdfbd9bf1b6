package reconcile

import "github.com/safrasync/safrasync/trade"

var (
	titleReport = phrase{"Conciliação ERP × Plataforma", "Reconciliation ERP × platform"}

	lineName     = phrase{"Instalação: %s", "Installation: %s"}
	lineNow      = phrase{"Posição em %s (horário de %s).", "As things stand at %s (time of %s)."}
	lineClosed   = phrase{"Fechamento de %s: posição guardada em %s por %s, motivo: %s. Os números são os do fechamento, palavra por palavra.", "Closing of %s: kept at %s by %s, because: %s. The numbers are those of the closing, word for word."}
	lineHash     = phrase{"Registro da auditoria nº %d; resumo SHA-256 %s, conferido.", "Record no. %d of the audit; SHA-256 %s, verified."}
	lineDerived  = phrase{"Posição em %s, data que ninguém fechou: deduzida das tentativas de envio e da auditoria. %d de %d linhas como estavam então; %d deduzidas; de %d não se sabe por que não tinham ido.", "As things stood at the end of %s, which nobody closed: derived from attempts and audit. %d of %d rows as they stood then; %d derived; of %d it is not known why they had not gone."}
	lineDay      = phrase{"Data-base de corte: %s. Documentos de dias posteriores ficam de fora.", "Cut-off: %s. Documents of later days are left out."}
	linePeriod   = phrase{"Documentos de %s a %s; os que não têm data legível estão sempre incluídos.", "Documents from %s to %s; those without a readable date are always in."}
	lineFilter   = phrase{"Filtro: %s. O resumo é sempre de todas as linhas.", "Filter: %s. The summary is always of all rows."}
	lineAsked    = phrase{"A plataforma foi consultada contrato por contrato: %d contratos, %d que ela não tem, %d sem leitura.", "The platform was asked for each contract: %d contracts, %d that it does not have, %d that could not be read."}
	lineReduced  = phrase{"De %d linha(s) a retenção já tirou produto, produtor e preço: aparecem sem eles. Um mês fechado os conserva.", "Of %d row(s) the retention has taken product, producer and price: they are shown without. A closed month keeps them."}
	lineReport   = phrase{"Relatório %s, safrasync %s.", "Report %s, safrasync %s."}
	lineBegin    = phrase{"o começo", "the beginning"}
	lineEnd      = phrase{"hoje", "today"}
	lineDocument = phrase{"CPFs estão mascarados neste relatório (***.456.789-**). Ao guardá-lo ou enviá-lo, a proteção passa a ser de quem o tem.", "CPFs are masked in this report (***.456.789-**). Who keeps it or passes it on has to protect it."}
)

var sectionTitles = map[SectionID]phrase{
	SummarySection: {"Resumo", "Summary"}, BridgeSection: {"Ponte com o ERP", "Bridge from the ERP"}, TotalsSection: {"Totais", "Totals"}, ContractsSection: {"Contratos", "Contracts"}, DeliveriesSection: {"Entregas", "Deliveries"},
	TraceabilitySection: {"Rastreabilidade", "Traceability"}, DivergencesSection: {"Divergências", "Divergences"}, ExceptionsSection: {"Exceções", "Exceptions"},
	MessagesSection: {"Mensagens da plataforma", "Messages of the platform"},
}

var sectionNotes = map[SectionID]phrase{
	SummarySection: {
		"Linhas no ERP = soma das situações; a diferença tem de ser zero.",
		"Rows in the ERP = sum of the states; the difference must be zero.",
	},
	BridgeSection: {
		"Tudo o que a consulta traz do ERP, na última varredura completa e no que veio depois: as parcelas somam o total, em linhas, em kg e em valor.",
		"All that the query gives of the ERP, at the last complete sweep and since: the parts add up to the total, in rows, in kg and in value.",
	},
	TotalsSection: {
		"Contratado = COMPRA + A_FIXAR; fixado = COMPRA + FIXACAO; a fixar = A_FIXAR − FIXACAO_COMPRA (é o mesmo grão: nunca somados). Produtos e moedas nunca se somam.",
		"Contracted = COMPRA + A_FIXAR; fixed = COMPRA + FIXACAO; to fix = A_FIXAR − FIXACAO_COMPRA (the same grain: never added). Products and currencies are never added.",
	},
	DeliveriesSection: {
		"A API não lê entregas: compara-se com o que foi enviado e confirmado.",
		"The API cannot read deliveries: they are compared with what was sent and confirmed.",
	},
	TraceabilitySection: {
		"A API não lê registros de rastreabilidade: compara-se com o que foi enviado e confirmado.",
		"The API cannot read traceability records: they are compared with what was sent and confirmed.",
	},
	DivergencesSection: {"Diferenças acima da tolerância: %s kg e %s por linha; entregas acima do contrato mais %s %%.", "Differences above the tolerance: %s kg and %s for a row; deliveries above the contract plus %s %%."},
	ExceptionsSection:  {"Decisões de pessoas e respostas que chegaram depois delas.", "Decisions of people, and answers that came after them."},
	MessagesSection:    {"Chaves com que a plataforma respondeu até agora; as sem explicação são para a TI.", "Keys that the platform answered with until now; those without words are for IT."},
}

// summaryWords are the lines of the summary.
var summaryWords = map[string]phrase{
	"in_erp": {"Linhas no ERP (escopo)", "Rows in the ERP (in scope)"}, "sum": {"Soma das situações", "Sum of the states"}, "difference": {"Diferença", "Difference"},
	"unknown": {"não enviadas (situação da época desconhecida)", "not sent (state then not known)"}, "moved": {"passadas para a linha renumerada", "gone to the renumbered row"},
	"after": {"posteriores à data de corte", "after the cut-off"}, "unreadable": {"sem chave legível no ERP (fora da conta)", "without a readable key in the ERP (not in the sum)"},
	"gone": {"Não estão mais no ERP (fora da conta)", "No longer in the ERP (not in the sum)"}, "gone_moved": {"passadas para a linha renumerada", "gone to the renumbered row"},
	"no_sweep": {"sem varredura completa: nada prova", "no complete sweep: proves nothing"},
}

// summaryStates name the rows in a state.
var summaryStates = map[trade.State]phrase{
	trade.Accepted: {"enviadas", "sent"}, trade.Pending: {"pendentes", "pending"}, trade.Waiting: {"aguardando", "waiting"}, trade.Sending: {"em envio", "being sent"},
	trade.Invalid: {"com erro (dados do ERP)", "with an error (ERP data)"}, trade.Rejected: {"rejeitadas pela plataforma", "rejected by the platform"},
	trade.InDoubt: {"sem confirmação (verificar)", "in doubt (verify)"}, trade.Held: {"retidas (decidir)", "held (decide)"}, trade.Dismissed: {"dispensadas", "dismissed"},
	trade.Withdrawn: {"retiradas do ERP", "withdrawn from the ERP"},
}

var byWords = map[By]phrase{
	ByAll: {"geral", "overall"}, BySeason: {"safra", "season"}, ByProducer: {"produtor", "producer"}, ByPlace: {"local de entrega", "delivery place"},
}

var divergenceWords = map[DivergenceKind]phrase{
	VolumeDiffers: {"volume no ERP difere do enviado", "volume in the ERP differs from what was sent"}, ValueDiffers: {"valor no ERP difere do enviado", "value in the ERP differs from what was sent"},
	CurrencyDiffers: {"moeda diferente", "another currency"}, OtherDiffers: {"outros campos alterados no ERP após o envio", "other fields changed in the ERP after sending"},
	LeftERP:     {"está na plataforma e não está mais no ERP (ou foi cancelado)", "on the platform and no longer in the ERP (or cancelled)"},
	MayBeDouble: {"pode estar em dobro na plataforma", "may be on the platform twice"}, Contradicts: {"resposta contradiz a decisão de uma pessoa", "an answer contradicts what a person decided"},
	DeletedThere: {"excluído na plataforma", "deleted on the platform"}, OverDelivered: {"entregue acima do contratado", "delivered beyond what was contracted"},
	PlatformVolume: {"volume na plataforma difere do enviado", "volume on the platform differs from what was sent"}, PlatformValue: {"valor na plataforma difere do enviado", "value on the platform differs from what was sent"},
	PlatformNotFound: {"a plataforma não tem este id", "the platform does not have this id"}, PlatformUnread: {"a plataforma não pôde ser lida", "the platform could not be read"},
}

var actWords = map[string]phrase{
	"dismiss": {"dispensada", "dismissed"}, "reopen": {"reaberta", "reopened"}, "adopt": {"id confirmado na plataforma", "id adopted"}, "resend": {"enviada outra vez", "sent again"},
	"acknowledge": {"diferença reconhecida", "difference acknowledged"}, "moved": {"id passado para a linha renumerada", "id moved to the renumbered row"},
	"late answer": {"resposta tardia da plataforma", "late answer of the platform"},
}

var basisWords = map[Basis]phrase{Exact: {"", ""}, Derived: {"deduzida", "derived"}, Unknown: {"desconhecida", "not known"}}

var statusWords = map[trade.Status]phrase{
	trade.Workflow: {"Workflow", "Workflow"}, trade.ProducerESG: {"ESG do produtor", "ESG of the producer"}, trade.FarmESG: {"ESG da propriedade", "ESG of the farm"},
}

var (
	wordProgram  = phrase{"safrasync (automático)", "safrasync (automatic)"}
	wordNotKept  = phrase{"(não guardado)", "(no longer kept)"}
	wordNotAsked = phrase{"", ""}
	wordYes      = phrase{"sim", "yes"}
	wordDealt    = phrase{"reconhecida (veja Exceções)", "acknowledged (see Exceptions)"}
	wordNo       = phrase{"não", "no"}
	wordNotSent  = phrase{"não enviada (situação da época desconhecida)", "not sent (state then not known)"}

	wordNoStatus = phrase{"mudou, o aviso não diz para quê", "changed, the event does not say to what"}
	wordToldAt   = phrase{", avisado em", ", told at"}

	platformNotFound = phrase{"não encontrado", "not found"}
	platformUnread   = phrase{"sem leitura", "could not be read"}
)
