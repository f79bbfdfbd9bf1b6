package alert

// Small words, headings, and the frame of every message.
var (
	wordAnd = phrase{" e ", " and "}
	aDay    = counted{phrase{"%d dia", "%d day"}, phrase{"%d dias", "%d days"}}
	anHour  = counted{phrase{"%d hora", "%d hour"}, phrase{"%d horas", "%d hours"}}
	aMinute = counted{phrase{"%d minuto", "%d minute"}, phrase{"%d minutos", "%d minutes"}}

	subjectRaised = phrase{"[%s] Atenção: %s", "[%s] Attention: %s"}
	subjectOver   = phrase{"[%s] Resolvido: %s", "[%s] Resolved: %s"}
	subjectTest   = phrase{"[%s] Mensagem de teste", "[%s] Test message"}

	headHappened = phrase{"O que aconteceu", "What happened"}
	headSince    = phrase{"Desde quando", "Since when"}
	headWhen     = phrase{"Quando", "When"}
	headMeans    = phrase{"O que significa", "What it means"}
	headDo       = phrase{"O que fazer", "What to do"}
	headCauses   = phrase{"Por quê", "Why"}

	overText = phrase{"%s\nComeçou em %s e terminou em %s (%s).", "%s\nIt began at %s and ended at %s (%s)."}
	overDo   = phrase{"Nada: o aviso está encerrado.", "Nothing: this alert is closed."}
	footText = phrase{
		"%s, horários de %s. Cada aviso é enviado uma vez quando começa e uma vez quando termina.",
		"%s, times of %s. Each alert is sent once when it begins and once when it is over.",
	}
	footDigest = phrase{"%s, horários de %s.", "%s, times of %s."}
	testText   = phrase{"Este é um teste pedido por `safrasync check --alert`. Se você o recebeu, os avisos chegam aqui.", "This is a test that `safrasync check --alert` asked for. If you got it, alerts reach you here."}

	causeLine = phrase{"%s × %s", "%s × %s"}
	causeWho  = phrase{"Quem resolve: %s. %s", "Who can cure it: %s. %s"}
	causeMore = counted{phrase{"… e mais %d motivo", "… and %d more cause"}, phrase{"… e mais %d motivos", "… and %d more causes"}}
	causeCode = counted{phrase{" (%d código)", " (%d code)"}, phrase{" (%d códigos)", " (%d codes)"}}
	causeAge  = phrase{"; a mais antiga, de %s", "; the oldest of %s"}
)

// missingWords name missing references; the number comes first.
var missingWords = map[string]counted{
	"wallets":         {phrase{"%d carteira sem vínculo bloqueia", "%d wallet without an id blocks"}, phrase{"%d carteiras sem vínculo bloqueiam", "%d wallets without an id block"}},
	"producers":       {phrase{"%d produtor sem vínculo bloqueia", "%d producer without an id blocks"}, phrase{"%d produtores sem vínculo bloqueiam", "%d producers without an id block"}},
	"users":           {phrase{"%d usuário (emissor) sem vínculo bloqueia", "%d user (issuer) without an id blocks"}, phrase{"%d usuários (emissores) sem vínculo bloqueiam", "%d users (issuers) without an id block"}},
	"delivery_places": {phrase{"%d local de entrega sem vínculo bloqueia", "%d delivery place without an id blocks"}, phrase{"%d locais de entrega sem vínculo bloqueiam", "%d delivery places without an id block"}},
	"farms":           {phrase{"%d propriedade sem vínculo bloqueia", "%d farm without an id blocks"}, phrase{"%d propriedades sem vínculo bloqueiam", "%d farms without an id block"}},
}

// missingOther is a kind of reference without words of its own.
var missingOther = counted{phrase{"%d código sem vínculo bloqueia", "%d code without an id blocks"}, phrase{"%d códigos sem vínculo bloqueiam", "%d codes without an id block"}}
