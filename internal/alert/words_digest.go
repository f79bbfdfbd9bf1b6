package alert

import "github.com/safrasync/safrasync/trade"

// What the digest says.
var (
	subjectQuiet = phrase{"[%s] Resumo de %s: nada novo, nada pendente", "[%s] Digest of %s: nothing new, nothing open"}
	subjectStuck = counted{
		phrase{"[%s] Resumo de %s: nada enviado; %s linha por resolver", "[%s] Digest of %s: nothing sent; %s row to be resolved"},
		phrase{"[%s] Resumo de %s: nada enviado; %s linhas por resolver", "[%s] Digest of %s: nothing sent; %s rows to be resolved"},
	}
	subjectSent = phrase{"[%s] Resumo de %s: enviados %s; nada pendente", "[%s] Digest of %s: sent %s; nothing open"}
	subjectBoth = phrase{"[%s] Resumo de %s: enviados %s; por resolver: %s", "[%s] Digest of %s: sent %s; to be resolved: %s"}

	digestTitle    = phrase{"Resumo do envio à plataforma", "What went to the platform"}
	digestPeriod   = phrase{"Período: de %s a %s.", "Period: from %s to %s."}
	shortSent      = phrase{"Foram à plataforma: %s.", "Gone to the platform: %s."}
	shortNoneSent  = phrase{"Nada foi enviado neste período.", "Nothing was sent in this period."}
	shortNoneStuck = phrase{"Nenhuma linha espera por alguém.", "No row waits for anybody."}
	shortOneStuck  = phrase{"1 linha ainda não foi e espera por solução; abaixo, por quê e o que fazer.", "1 row has not gone and waits to be resolved; below is why, and what to do."}
	shortStuck     = phrase{"%s linhas ainda não foram e esperam por solução; abaixo, por quê e o que fazer.", "%s rows have not gone and wait to be resolved; below is why, and what to do."}

	digestAlerts  = phrase{"Avisos em aberto", "Open alerts"}
	digestSince   = phrase{", desde %s.", ", since %s."}
	digestJobHead = phrase{"%s (rotina %s)", "%s (job %s)"}
	digestJobOnly = phrase{"Rotina %s, que não está mais na configuração", "Job %s, which is no longer configured"}
	digestSent    = counted{phrase{"Foi à plataforma: %s.", "Gone to the platform: %s."}, phrase{"Foram à plataforma: %s.", "Gone to the platform: %s."}}

	digestNoneSent  = phrase{"Nada foi enviado.", "Nothing was sent."}
	digestRead      = phrase{"No ERP: %s linhas novas, %s alteradas.", "In the ERP: %s new rows, %s changed."}
	digestSameGrain = phrase{
		"Atenção ao somar: a fixação é do mesmo grão do contrato a fixar.",
		"Mind the sums: a fixation is of the same grain as its contract to be fixed.",
	}
	digestNotSent   = phrase{"%s: o que não foi, por quê e o que fazer", "%s: what did not go, why, and what to do"}
	digestRemarks   = phrase{"%s: conferir na plataforma", "%s: to be looked at on the platform"}
	digestWeight    = phrase{"Volume: %s", "Volume: %s"}
	digestValue     = phrase{"Valor: %s %s", "Value: %s %s"}
	digestUnweighed = counted{phrase{"%s sem volume ou unidade", "%s without volume or unit"}, phrase{"%s sem volume ou unidade", "%s without volume or unit"}}
	digestUnpriced  = counted{phrase{"%s sem preço, fora do valor", "%s without a price, not in the value"}, phrase{"%s sem preço, fora do valor", "%s without a price, not in the value"}}
	digestLate      = counted{
		phrase{"%s linha só apareceu na varredura completa (chegou atrasada ao ERP)", "%s row showed up in the complete sweep only (it came late into the ERP)"},
		phrase{"%s linhas só apareceram na varredura completa (chegaram atrasadas ao ERP)", "%s rows showed up in the complete sweep only (they came late into the ERP)"},
	}
	digestPosition = counted{
		phrase{"Posição: %s linha conhecida = %s.", "Position: %s known row = %s."},
		phrase{"Posição: %s linhas conhecidas = %s.", "Position: %s known rows = %s."},
	}
	digestMissing   = phrase{"De-para que falta", "Missing references"}
	digestMissingDo = phrase{"TI: `safrasync refs list` mostra os códigos. Cadastrado o de-para, as linhas seguem sozinhas.", "IT: `safrasync refs list` shows the codes. Once they have ids, the rows go by themselves."}
	digestActs      = phrase{"Decisões registradas no período", "Decisions recorded in this period"}

	causeState     = phrase{" [%s]", " [%s]"}
	productUnknown = phrase{"Produto não informado", "Product not known"}
	typeUnknown    = phrase{"tipo não informado", "type not known"}
	nationalDays   = phrase{"sem fins de semana nem feriados nacionais", "without weekends and national holidays"}
	traceOne       = phrase{"%s linha de rastreabilidade", "%s traceability record"}
	traceMany      = phrase{"%s linhas de rastreabilidade", "%s traceability records"}
)

// productWords are the products of chapter 2.1.
var productWords = map[string]phrase{
	string(trade.Soja):  {"Soja", "Soybeans"},
	string(trade.Milho): {"Milho", "Corn"},
	string(trade.Trigo): {"Trigo", "Wheat"},
}

var orderTypeWords = map[string]phrase{
	string(trade.Compra):          {"compra (preço fixo)", "purchase (fixed price)"},
	string(trade.AFixar):          {"a fixar", "price to be fixed"},
	string(trade.FixacaoCompra):   {"fixação de compra", "fixation of a purchase"},
	string(trade.FixacaoDeposito): {"fixação de depósito", "fixation of a deposit"},
}

// stateWords name the rows in a state, several of them.
var stateWords = map[trade.State]phrase{
	trade.Pending:   {"pendentes", "pending"},
	trade.Waiting:   {"aguardando", "waiting"},
	trade.Invalid:   {"com erro (dados do ERP)", "with an error (data of the ERP)"},
	trade.Sending:   {"em envio", "being sent"},
	trade.Accepted:  {"na plataforma", "on the platform"},
	trade.Rejected:  {"rejeitadas pela plataforma", "rejected by the platform"},
	trade.InDoubt:   {"sem confirmação (verificar)", "in doubt (look)"},
	trade.Held:      {"retidas (decidir)", "held (decide)"},
	trade.Dismissed: {"dispensadas", "dismissed"},
	trade.Withdrawn: {"retiradas do ERP", "withdrawn from the ERP"},
}

// flagWords are the flags that ask for something, with what to do; the job is the argument.
var flagWords = []struct {
	flag trade.Flag
	what counted
	do   phrase
}{
	{trade.Changed, counted{phrase{"%s alterada no ERP após o envio", "%s changed in the ERP after it was sent"}, phrase{"%s alteradas no ERP após o envio", "%s changed in the ERP after they were sent"}}, phrase{
		"Contabilidade: corrija na plataforma à mão (`safrasync rows %s --flag changed`) e registre com `safrasync acknowledge`.",
		"Accounting: correct it on the platform by hand (`safrasync rows %s --flag changed`) and record it with `safrasync acknowledge`.",
	}},
	{trade.Cancelled, counted{phrase{"%s cancelada no ERP após o envio", "%s cancelled in the ERP after it was sent"}, phrase{"%s canceladas no ERP após o envio", "%s cancelled in the ERP after they were sent"}}, phrase{
		"Contabilidade: cancele na plataforma à mão (`safrasync rows %s --flag cancelled`) e registre com `safrasync acknowledge`.",
		"Accounting: cancel it on the platform by hand (`safrasync rows %s --flag cancelled`) and record it with `safrasync acknowledge`.",
	}},
	{trade.MissingInERP, counted{phrase{"%s sumiu do ERP após o envio", "%s gone from the ERP after it was sent"}, phrase{"%s sumiram do ERP após o envio", "%s gone from the ERP after they were sent"}}, phrase{
		"Contabilidade: foi excluída de propósito? Então exclua na plataforma (`safrasync rows %s --flag missing`) e registre com `safrasync acknowledge`.",
		"Accounting: deleted on purpose? Then have it deleted on the platform (`safrasync rows %s --flag missing`) and record it with `safrasync acknowledge`.",
	}},
	{trade.DoubleAfterDecision, counted{phrase{"%s pode estar em dobro na plataforma", "%s may be there twice"}, phrase{"%s podem estar em dobro na plataforma", "%s may be there twice"}}, phrase{
		"Contabilidade: procure na plataforma e peça a exclusão da que sobrar (`safrasync rows %s --flag double_after_decision`).",
		"Accounting: look on the platform and have what is too much deleted (`safrasync rows %s --flag double_after_decision`).",
	}},
	{trade.Contradicted, counted{phrase{"%s com o id contradito por uma resposta tardia", "%s whose id a late answer contradicts"}, phrase{"%s com o id contradito por uma resposta tardia", "%s whose ids a late answer contradicts"}}, phrase{
		"Contabilidade: confira o id na plataforma (`safrasync rows %s --flag contradicted`).",
		"Accounting: look at the id on the platform (`safrasync rows %s --flag contradicted`).",
	}},
	{trade.DeletedRemote, counted{phrase{"%s excluída na plataforma", "%s deleted on the platform"}, phrase{"%s excluídas na plataforma", "%s deleted on the platform"}}, phrase{
		"Contabilidade: confira se a exclusão na plataforma foi de propósito (`safrasync rows %s --flag deleted_remote`).",
		"Accounting: make sure that the deletion on the platform was on purpose (`safrasync rows %s --flag deleted_remote`).",
	}},
}

// actWords are the acts of people that decide about rows, and the late answers that end them.
var actWords = []struct {
	act  string
	what counted
}{
	{"adopt", counted{phrase{"%s confirmada com o id da plataforma", "%s confirmed with the platform's id"}, phrase{"%s confirmadas com o id da plataforma", "%s confirmed with the platform's id"}}},
	{"resend", counted{phrase{"%s reenviada por decisão de uma pessoa", "%s sent again by a person's decision"}, phrase{"%s reenviadas por decisão de uma pessoa", "%s sent again by a person's decision"}}},
	{"retry", counted{phrase{"%s tentada de novo a pedido", "%s tried again on request"}, phrase{"%s tentadas de novo a pedido", "%s tried again on request"}}},
	{"dismiss", counted{phrase{"%s dispensada", "%s dismissed"}, phrase{"%s dispensadas", "%s dismissed"}}},
	{"reopen", counted{phrase{"%s reaberta", "%s reopened"}, phrase{"%s reabertas", "%s reopened"}}},
	{"acknowledge", counted{phrase{"%s marcada como resolvida", "%s marked as dealt with"}, phrase{"%s marcadas como resolvidas", "%s marked as dealt with"}}},
	{"release", counted{phrase{"%s freio liberado", "%s brake released"}, phrase{"%s freios liberados", "%s brakes released"}}},
	{"late answer", counted{phrase{"%s resposta tardia da plataforma", "%s late answer of the platform"}, phrase{"%s respostas tardias da plataforma", "%s late answers of the platform"}}},
}
