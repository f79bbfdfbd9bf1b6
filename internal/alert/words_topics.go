package alert

// topicWords are the sentences of a topic but for stops, which have theirs by their reasons (words_stops.go). The arguments of title and happened are those that
// say.go gives.
type topicWords struct {
	title    phrase // of the subject line; takes the job, the host or nothing
	happened phrase
	means    phrase
	do       phrase
}

var topics = map[Topic]topicWords{
	InDoubt: {
		title:    phrase{"envio sem confirmação em %s", "something in doubt in %s"},
		happened: phrase{"Na rotina %s há %s sem confirmação: o envio saiu, e a resposta da plataforma se perdeu. O primeiro envio sem resposta é de %s.", "Job %s has %s in doubt: the request left, and the platform's answer was lost. The first request without an answer is of %s."},
		means: phrase{
			"O registro pode existir na plataforma ou não. O safrasync nunca o envia de novo sozinho, para não duplicar; o que depende dele espera.",
			"The record may exist on the platform, or not. safrasync never sends it again by itself, so as not to double it; what depends on it waits.",
		},
		do: phrase{
			"Contabilidade: veja a lista com `safrasync rows %[1]s --state in_doubt` e procure cada um na plataforma. Se existir, confirme com `safrasync adopt`; se não existir, reenvie com `safrasync resend --checked`.",
			"Accounting: see the list with `safrasync rows %[1]s --state in_doubt` and look for each on the platform. If it exists, confirm it with `safrasync adopt`; if not, send it again with `safrasync resend --checked`.",
		},
	},
	Rejected: {
		title:    phrase{"muitas recusas da plataforma em %s", "many refusals by the platform in %s"},
		happened: phrase{"Na rotina %s há %s que a plataforma recusou (limite do aviso: %s).", "In job %s the platform has refused %s (limit of this alert: %s)."},
		means:    phrase{"As linhas recusadas não estão na plataforma. Muitas de uma vez costumam ter uma só causa.", "The refused rows are not on the platform. Many at once mostly have one cause."},
		do: phrase{
			"Resolva os motivos acima; a lista completa: `safrasync rows %[1]s --state rejected`.",
			"Resolve the causes above; the whole list: `safrasync rows %[1]s --state rejected`.",
		},
	},
	NothingNew: {
		title:    phrase{"nada de novo no ERP para %s", "nothing new in the ERP for %s"},
		happened: phrase{"A rotina %s lê o ERP normalmente, mas não encontra nenhuma linha nova desde %s (contados só dias úteis, %s).", "Job %s reads the ERP as usual, but has found no new row since %s (working days only, %s)."},
		means: phrase{
			"Ou não houve movimento, ou o ERP deixou de mostrar as linhas novas: visão alterada, permissão, filtro de filial ou de safra, integração interna parada.",
			"Either there was no business, or the ERP does not show new rows any more: a changed view, a right, a filter by branch or harvest, an internal interface that stands still.",
		},
		do: phrase{
			"Contabilidade: houve lançamentos nesse período? Se houve, a TI confere a consulta com `safrasync check` e procura um deles com `safrasync why %[1]s 'CHAVE'`. Se é entressafra, nada a fazer; o limite é nothing_new na configuração.",
			"Accounting: was anything entered in that time? If so, IT looks at the query with `safrasync check`, and for one of the rows with `safrasync why %[1]s 'KEY'`. Off season there is nothing to do; the limit is nothing_new in the configuration.",
		},
	},
	LongWaiting: {
		title:    phrase{"linhas esperando há muito tempo em %s", "rows waiting for long in %s"},
		happened: phrase{"Na rotina %s há %s fora da plataforma; a espera mais longa começou em %s.", "Job %s has %s that are not on the platform yet; the longest has waited since %s."},
		means:    phrase{"Essas linhas estão no ERP e não na plataforma. Nada se perdeu: seguem sozinhas quando a causa for resolvida.", "These rows are in the ERP and not on the platform. Nothing is lost: they go by themselves when the cause is cured."},
		do: phrase{
			"Resolva os motivos acima, ou veja com `safrasync status` se a rotina está parada; a lista completa: `safrasync rows %[1]s --state waiting`.",
			"Resolve the causes above, or see with `safrasync status` whether the job stands still; the whole list: `safrasync rows %[1]s --state waiting`.",
		},
	},
	Silent: {
		title:    phrase{"a plataforma não avisa mais nada", "the platform tells nothing any more"},
		happened: phrase{"Desde %s não chegou nenhum evento, embora a plataforma tenha confirmado %s (contados só dias úteis, %s).", "Since %s no event has come, although the platform has confirmed %s (working days only, %s)."},
		means: phrase{
			"Os envios seguem normalmente. Mas sem eventos as dúvidas não se resolvem sozinhas, e o que muda na plataforma não aparece aqui.",
			"What is sent goes on as usual. But without events doubts do not resolve themselves, and what changes on the platform does not show here.",
		},
		do: phrase{
			"TI: confira os registros com `safrasync webhooks list`, e se o endereço público responde de fora (certificado, proxy, firewall).",
			"IT: look at the registrations with `safrasync webhooks list`, and whether the public address answers from outside (certificate, proxy, firewall).",
		},
	},
	Unheard: {
		title:    phrase{"eventos da plataforma por examinar", "events of the platform not looked at"},
		happened: phrase{"%s eventos chegaram e ainda não foram examinados.", "%s events have come and have not been looked at yet."},
		means:    phrase{"Nada se perde: estão guardados. Mas o que eles dizem ainda não conta.", "Nothing is lost: they are kept. But what they say does not count yet."},
		do:       phrase{"TI: veja o log do serviço e `safrasync webhooks inbox --open`.", "IT: see the service's log and `safrasync webhooks inbox --open`."},
	},
	SweepMissed: {
		title:    phrase{"a varredura achou linhas que a leitura normal perdeu em %s", "the sweep found rows that reading had missed in %s"},
		happened: phrase{"Na rotina %s, %s só apareceram na varredura completa; a mais atrasada, %s depois da data de alteração que ela traz.", "In job %s, %s showed up in the complete sweep only; the latest %s after the time of change that it carries."},
		means: phrase{
			"Nada se perdeu: essas linhas foram lidas agora. Mas a coluna de alteração (changed_at) não mostra tudo a tempo, e outras podem chegar atrasadas.",
			"Nothing is lost: these rows have been read now. But the column of changes (changed_at) does not show everything in time, and others may come late.",
		},
		do: phrase{
			"TI: aumente lookback da rotina %[1]s, ou tire changed_at se a coluna não for confiável.",
			"IT: widen lookback of job %[1]s, or leave changed_at out if the column cannot be trusted.",
		},
	},
	Contradicted: {
		title:    phrase{"possível duplicidade ou id contradito em %s", "a possible double or a contradicted id in %s"},
		happened: phrase{"Na rotina %s, em %s, uma resposta tardia da plataforma contradiz o que uma pessoa decidiu.", "In job %s, for %s, a late answer of the platform contradicts what a person decided."},
		means:    phrase{"A plataforma pode ter o registro em dobro, ou com outro id que não o informado.", "The platform may have the record twice, or with another id than the one given."},
		do: phrase{
			"Contabilidade: veja as linhas com `safrasync rows %[1]s --flag contradicted` e `--flag double_after_decision`, confira na plataforma, peça a exclusão do que sobrar e registre com `safrasync acknowledge`.",
			"Accounting: see the rows with `safrasync rows %[1]s --flag contradicted` and `--flag double_after_decision`, look on the platform, have what is too much deleted there, and record it with `safrasync acknowledge`.",
		},
	},
	LateAnswer: {
		title:    phrase{"resposta tardia da plataforma em %s", "a late answer of the platform in %s"},
		happened: phrase{"Na rotina %s, a plataforma confirmou tarde %s que uma pessoa já tinha dispensado ou mandado reenviar.", "In job %s the platform confirmed late %s that a person had dismissed, or had ordered to be sent again."},
		means: phrase{
			"O registro existe na plataforma e agora consta como enviado, com o seu id; a decisão anterior perdeu efeito. Nada foi enviado em dobro.",
			"The record exists on the platform and stands as sent now, with its id; the earlier decision has ended. Nothing went twice.",
		},
		do: phrase{
			"Contabilidade: se a linha não devia estar na plataforma, peça a exclusão lá. O que houve está em `safrasync audit list`, e a rotina em `safrasync rows %[1]s`.",
			"Accounting: if the row should not be on the platform, have it deleted there. What happened is in `safrasync audit list`, the job's rows in `safrasync rows %[1]s`.",
		},
	},
	DiskFull: {
		title:    phrase{"pouco espaço em disco em %s", "little room on the disk of %s"},
		happened: phrase{"No servidor %s, a pasta %s tem só %s MiB livres.", "On host %s, folder %s has only %s MiB left."},
		means:    phrase{"Sem espaço, o registro local não pode gravar, e o safrasync para de enviar antes de perder qualquer coisa.", "Without room the ledger cannot store, and safrasync stops sending before anything is lost."},
		do:       phrase{"TI: libere espaço nesse disco. Não apague nada das pastas do safrasync.", "IT: free space on this disk. Delete nothing in the folders of safrasync."},
	},
	Certificate: {
		title:    phrase{"o certificado da plataforma vence em breve", "the platform's certificate ends soon"},
		happened: phrase{"O certificado que a plataforma mostra vence em %s.", "The certificate that the platform shows ends on %s."},
		means:    phrase{"Depois dessa data o safrasync não aceita a conexão e para de enviar. Nada se perde.", "After that the connection is not accepted, and nothing is sent. Nothing is lost."},
		do:       phrase{"TI: pergunte ao suporte da plataforma se a renovação está prevista; se há um proxy que inspeciona o tráfego, o certificado é dele.", "IT: ask the platform's support whether it will be renewed; behind a proxy that inspects traffic the certificate is the proxy's."},
	},
	NoLedger: {
		title:    phrase{"o registro local do safrasync não responde", "the ledger of safrasync does not answer"},
		happened: phrase{"O safrasync não consegue ler ou gravar o seu registro local.", "safrasync cannot read or write its ledger."},
		means:    phrase{"Sem o registro nada é enviado, para não enviar em dobro. Os demais avisos também ficam suspensos.", "Without it nothing is sent, so that nothing goes twice. All other alerts rest too."},
		do:       phrase{"TI: veja espaço em disco, permissões e, com PostgreSQL, o servidor; `safrasync doctor` diz mais.", "IT: look at disk space, rights and, with PostgreSQL, the server; `safrasync doctor` says more."},
	},
}
