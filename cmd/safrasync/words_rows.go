package main

// What rows, why and preview say.
var (
	saysNoState   = phrase{"não existe o estado %q; existem %s", "there is no state %q; there are %s"}
	saysNoRowFlag = phrase{"não existe a marca %q; existem %s", "there is no flag %q; there are %s"}
	saysLimit     = phrase{"--limit não pode ser negativo", "--limit must not be negative"}
	saysSince     = phrase{"--since %q não é um prazo (2h, 7d) nem uma data (2026-11-21)", "--since %q is neither an age (2h, 7d) nor a date (2026-11-21)"}

	rowsHeadJob     = phrase{"Job", "Job"}
	rowsHeadKey     = phrase{"Chave", "Key"}
	rowsHeadState   = phrase{"Situação", "State"}
	rowsHeadReason  = phrase{"Motivo", "Reason"}
	rowsHeadID      = phrase{"Id na plataforma", "Platform id"}
	rowsHeadUpdated = phrase{"Atualizado", "Updated"}
	rowsNone        = phrase{"nenhuma linha", "no rows"}
	rowsMore        = phrase{"mostradas as primeiras %d; há mais: use --limit N, --limit 0 ou --json", "the first %d are shown; there are more: use --limit N, --limit 0 or --json"}

	rowUnknown     = phrase{"o job %s não conhece a linha %s; `safrasync why %s '%s'` diz por quê", "job %s does not know the row %s; `safrasync why %s '%s'` says why"}
	rowTitle       = phrase{"%s %s: %s (%s)", "%s %s: %s (%s)"}
	rowAdvice      = phrase{"  quem resolve: %s. %s", "  who can cure it: %s. %s"}
	rowError       = phrase{"  detalhe: %s", "  detail: %s"}
	rowMoved       = phrase{"  id que teve: %s; o registro é agora da linha renumerada (`safrasync audit list` diz quem decidiu)", "  id that it had: %s; the record belongs to the renumbered row now (`safrasync audit list` tells who decided)"}
	rowRemote      = phrase{"  id na plataforma: %s", "  id on the platform: %s"}
	rowTimes       = phrase{"  visto pela primeira vez em %s, atualizado em %s; tentativas: %d, geração %d", "  first seen %s, updated %s; attempts: %d, generation %d"}
	rowWarning     = phrase{"  observação: %s", "  remark: %s"}
	rowValues      = phrase{"Valores do ERP:", "Values of the ERP:"}
	rowPayload     = phrase{"Pedido, POST %s:", "Request, POST %s:"}
	rowReduced     = phrase{"Valores, pedidos e respostas não são mais guardados desde %s; o que impede um segundo envio fica.", "Values, requests and answers are no longer kept since %s; what prevents a second sending stays."}
	rowNextAttempt = phrase{"nova tentativa em %s", "next attempt at %s"}

	attemptTitle    = phrase{"Tentativa %d, %s: %s (geração %d)", "Attempt %d, %s: %s (generation %d)"}
	attemptStatus   = phrase{"resposta HTTP %d %s", "HTTP answer %d %s"}
	attemptReason   = phrase{"  motivo: %s", "  reason: %s"}
	attemptAnswer   = phrase{"  início da resposta: %s", "  beginning of the answer: %s"}
	attemptEvidence = phrase{"  evidência: %s", "  evidence: %s"}

	whyTitle           = phrase{"%s %s (%s)", "%s %s (%s)"}
	whyNoERP           = phrase{"O ERP não pôde ser consultado agora: %v", "The ERP could not be asked now: %v"}
	whyInQuery         = phrase{"A linha está no ERP, e a consulta do job a devolve.", "The row is in the ERP, and the job's query returns it."}
	whyCancelled       = phrase{"A linha está no ERP, mas cancelada: linhas canceladas não são enviadas.", "The row is in the ERP, but cancelled: cancelled rows are not sent."}
	whyNotTold         = phrase{"A consulta do job não devolve esta chave; por que, o ERP não permite dizer.", "The job's query does not return this key; the ERP gives no way to say why."}
	whyNotAsked        = phrase{"Não se sabe se a consulta do job devolve esta chave: o banco não aceitou a pergunta; `safrasync check` diz mais.", "Nobody knows whether the job's query returns this key: the database did not accept the question; `safrasync check` tells more."}
	whyExcluded        = phrase{"A linha existe no ERP, mas a consulta do job a deixa de fora. Condições que a excluem:", "The row exists in the ERP, but the job's query leaves it out. The conditions that exclude it:"}
	whyExcludedSomehow = phrase{"A linha existe no ERP, mas a consulta do job não a devolve.", "The row exists in the ERP, but the job's query does not return it."}
	whyNotInERP        = phrase{"Nenhuma linha do ERP tem esta chave. Confira a chave: partes são separadas por |, e um | ou \\ dentro de uma parte leva \\ na frente.", "No row of the ERP has this key. Check the key: its parts are separated by |, and a | or \\ inside a part has a \\ before it."}
	whyNoEntry         = phrase{"O safrasync nunca registrou esta linha; nada foi enviado.", "safrasync has never recorded this row; nothing was sent."}
	whyWillBeRead      = phrase{"Ela entra na próxima execução (do serviço: %s) ou já, com `safrasync sync`.", "The next run takes it up (of the service: %s), or `safrasync sync` does at once."}
	whyState           = phrase{"Situação: %s, desde %s.", "State: %s, since %s."}
	whyReason          = phrase{"Motivo: %s.", "Reason: %s."}
	whyError           = phrase{"Detalhe: %s.", "Detail: %s."}
	whyAttempt         = phrase{"Tentativa %d, %s: %s (%s).", "Attempt %d, %s: %s (%s)."}
	whyRemote          = phrase{"Id na plataforma: %s.", "Id on the platform: %s."}
	whyFinal           = phrase{"Nada mais acontece: uma linha enviada nunca é enviada de novo.", "Nothing more happens: a row that was sent is never sent again."}
	whyRetry           = phrase{"Há nova tentativa automática em %s.", "It is tried again by itself at %s."}
	whyAdvice          = phrase{"Quem resolve: %s. %s", "Who can cure it: %s. %s"}
	whyWouldGo         = phrase{"Com os dados de agora, seria enviada na próxima execução.", "With the data of this moment it would go with the next run."}
	whyWouldNot        = phrase{"Com os dados de agora, não seria enviada: %s.", "With the data of this moment it would not go: %s."}
	whyWouldWait       = phrase{"Com os dados de agora, aguardaria: %s.", "With the data of this moment it would wait: %s."}
	whyJobStands       = phrase{"O job não está andando (%s): %s", "The job does not move (%s): %s"}

	previewNotInQuery = phrase{"a consulta do job não devolve a chave %s; `safrasync why %s '%s'` diz por quê", "the job's query does not return the key %s; `safrasync why %s '%s'` says why"}
	previewGoes       = phrase{"%s %s: seria enviada assim.", "%s %s: it would go like this."}
	previewStays      = phrase{"%s %s: não seria enviada (%s).", "%s %s: it would not go (%s)."}
	previewSent       = phrase{"%s %s já saiu e não é enviada de novo (%s). Abaixo, como sairia com os dados de agora.", "%s %s has left already and is not sent again (%s). Below, how it would go with the data of this moment."}
	previewCancelled  = phrase{"%s %s: não seria enviada, está cancelada no ERP.", "%s %s: it would not go, it is cancelled in the ERP."}
	previewHeadField  = phrase{"Campo da API", "API field"}
	previewHeadValue  = phrase{"Valor", "Value"}
	previewHeadColumn = phrase{"Coluna do ERP", "ERP column"}
	previewHeadERP    = phrase{"No ERP", "In the ERP"}
	previewHeadVia    = phrase{"Regra", "Applied"}
	previewRequest    = phrase{"Pedido, POST %s:", "Request, POST %s:"}
)
