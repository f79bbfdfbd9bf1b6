package main

// What api says.
var (
	helpAPI               = phrase{"chama a API à mão: consultas, crédito e webhooks", "call the API by hand: lookups, credit and webhooks"}
	helpAPICommitments    = phrase{"compromissos na plataforma (criá-los é trabalho de sync)", "order commitments on the platform (sync is what creates them)"}
	helpAPICommitmentsGet = phrase{"mostra um compromisso", "show an order commitment"}
	helpAPIProducers      = phrase{"produtores na plataforma", "producers on the platform"}
	helpAPIProducersGet   = phrase{"procura um produtor pelo CPF ou CNPJ", "look a producer up by CPF or CNPJ"}
	helpAPIConsent        = phrase{"o consentimento de um produtor", "a producer's consent"}
	helpAPIScore          = phrase{"score de crédito", "credit scores"}
	helpAPIScoreCreate    = phrase{"pede um score de crédito; pode ser cobrado", "request a credit score; it may cost money"}
	helpAPIAnalysis       = phrase{"análises de crédito", "credit analyses"}
	helpAPIAnalysisCreate = phrase{"abre uma análise de crédito; pode ser cobrada", "open a credit analysis; it may cost money"}
	helpAPIAnalysisGet    = phrase{"mostra uma análise de crédito", "show a credit analysis"}
	helpAPIHooks          = phrase{"webhooks: o que a plataforma avisa, e a quem", "webhooks: what the platform tells, and whom"}
	helpAPIHooksList      = phrase{"lista os webhooks", "list the webhooks"}
	helpAPIHooksGet       = phrase{"mostra o webhook de um evento", "show the webhook of an event"}
	helpAPIHooksCreate    = phrase{"registra um webhook", "register a webhook"}
	helpAPIHooksUpdate    = phrase{"altera o webhook de um evento", "change the webhook of an event"}
	helpAPIHooksDelete    = phrase{"remove um webhook", "remove a webhook"}

	apiMissing    = phrase{"falta %s", "%s is missing"}
	apiNoUUID     = phrase{"%s deve ser um UUID", "%s must be a UUID"}
	apiNoDocument = phrase{"%s não é um CPF ou CNPJ válido; confira os dígitos", "%s is no valid CPF or CNPJ; check its digits"}
	apiZeroLost   = phrase{"%s tem um dígito a menos; uma planilha pode ter tirado o zero à esquerda (formate a coluna como texto)", "%s is one digit too short; a spreadsheet may have taken a leading zero away (format the column as text)"}
	apiNotACPF    = phrase{"%s começa com CPF, mas o que segue não é um CPF válido; informe só o número", "%s begins with CPF, but what follows is no valid CPF; give the number alone"}
	apiNoCNPJ     = phrase{"%s não é um CNPJ válido; confira os dígitos", "%s is no valid CNPJ; check its digits"}
	apiNotOneOf   = phrase{"%s: valor desconhecido; existem %s", "%s: unknown value; there are %s"}

	apiPlan         = phrase{"Seria enviado: %s %s para %s", "This would be sent: %s %s to %s"}
	apiPlanField    = phrase{"  %s: %s", "  %s: %s"}
	apiPlanNote     = phrase{"  ! %s", "  ! %s"}
	apiGiven        = phrase{"(informado)", "(given)"}
	apiMayCost      = phrase{"Esta consulta pode ser cobrada.", "This request may cost money."}
	apiScoreNotRead = phrase{"O resultado só aparece agora: a API não o mostra outra vez.", "The result is shown now only: the API does not show it again."}
	apiHookTwice    = phrase{
		"O que acontece com um segundo webhook do mesmo evento não está documentado; veja antes com `safrasync api webhooks get EVENTO`.",
		"What happens with a second webhook for an event is not documented; look first with `safrasync api webhooks get EVENT`.",
	}
	apiHookWhole = phrase{
		"O que não for informado aqui (credenciais, segredo) pode deixar de valer: informe o webhook inteiro.",
		"What is not given here (credentials, secret) may be lost: give the whole webhook.",
	}
	apiPlanOpen = phrase{
		"A auditoria tem um pedido igual, de %s (%s), do qual ninguém sabe se foi executado. Este seria outro.",
		"The audit has an equal request, of %s (%s), of which nobody knows whether it was executed. This would be another one.",
	}

	apiCreated     = phrase{"Criado: %s", "Created: %s"}
	apiUpdated     = phrase{"Alterado.", "Changed."}
	apiDeleted     = phrase{"Removido.", "Removed."}
	apiNotSent     = phrase{"Nada foi enviado: %v.", "Nothing was sent: %v."}
	apiRefused     = phrase{"A plataforma recusou; nada foi feito: %v.", "The platform refused; nothing was done: %v."}
	apiThrottled   = phrase{"Nada foi feito: %v.", "Nothing was done: %v."}
	apiNoID        = phrase{"A plataforma diz que criou, mas sem um id legível: %v.", "The platform says that it was created, but without a readable id: %v."}
	apiUnknown     = phrase{"NINGUÉM SABE se o pedido foi executado: %v.", "NOBODY KNOWS whether the request was executed: %v."}
	apiSaid        = phrase{"  a plataforma diz: %s", "  the platform says: %s"}
	apiNext        = phrase{"  → %s", "  → %s"}
	apiDoubtCost   = phrase{"Não o repita: poderia ser executado e cobrado duas vezes. Pergunte à plataforma.", "Do not repeat it: it could be executed and charged twice. Ask the platform."}
	apiDoubtHook   = phrase{"Antes de repetir, veja com `safrasync api webhooks list` o que há.", "Before repeating it, see with `safrasync api webhooks list` what is there."}
	apiAuditFailed = phrase{"O resultado abaixo NÃO foi gravado na auditoria; anote-o.", "The outcome below was NOT written to the audit; note it down."}
	apiReadFailed  = phrase{"A consulta não deu resultado: %v.", "The lookup gave no result: %v."}
	apiUnread      = phrase{"Campos de forma desconhecida: %s", "Fields in no known shape: %s"}
	apiNoHooks     = phrase{"nenhum webhook registrado", "no webhook is registered"}
	apiHeadField   = phrase{"Campo", "Field"}
	apiHeadValue   = phrase{"Valor", "Value"}
	apiHeadEvent   = phrase{"Evento", "Event"}
	apiHeadURL     = phrase{"URL", "URL"}
	apiHeadID      = phrase{"Id", "Id"}

	batchNoHeader    = phrase{"a primeira linha deve ser o cabeçalho identity,person_type[,corporate_identity] (ou com ;)", "the first line must be the header identity,person_type[,corporate_identity] (or with ;)"}
	batchColumnsOver = phrase{"linha %d: tem %d coluna(s), o cabeçalho tem %d", "line %d: has %d column(s), the header has %d"}
	batchOrOne       = phrase{"--file não combina com %s", "--file does not go with %s"}
	batchNoOut       = phrase{"falta --out ARQUIVO (.csv), ou --json", "--out FILE (.csv) is missing, or --json"}
	batchBadOut      = phrase{"--out deve terminar em .csv", "--out must end in .csv"}
	fileNotThere     = phrase{"o arquivo não existe", "there is no such file"}
	folderNotThere   = phrase{"a pasta não existe; crie-a, ou dê outro nome", "the folder does not exist; create it, or give another name"}
	fileNotMade      = phrase{"%s: %s; nada foi gravado ali", "%s: %s; nothing was written there"}
	fileIsThere      = phrase{"o arquivo já existe e não é sobrescrito; dê outro nome", "the file exists and is not overwritten; give another name"}
	fileForbidden    = phrase{"sem permissão para este arquivo ou pasta", "no permission for this file or folder"}
	batchCount       = phrase{"consentimento: %d de %d", "consent: %d of %d"}
	batchDone        = phrase{"%d de %d produtor(es) consultado(s); %d sem resposta útil, com o motivo na sua linha.", "%d of %d producer(s) asked for; %d without a useful answer, with the reason in its row."}
	batchPause       = phrase{"A plataforma pede uma pausa até %s; depois continua.", "The platform asks for a pause until %s; it goes on then."}
	batchStopped     = phrase{"Parou aqui, os outros não foram consultados: %v.", "It stopped here, the others were not asked for: %v."}
	batchInterrupted = phrase{"Interrompido: o que foi feito está gravado.", "Interrupted: what was done is kept."}
)
