package main

import (
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// What retry, adopt, resend, dismiss, reopen, resync and audit say.
var (
	helpRetry       = phrase{"põe na fila o que não foi enviado ou foi recusado com certeza, para a próxima execução (já: `safrasync sync JOB`); não pode duplicar nada", "queue what was not sent or was certainly refused, for the next run (at once: `safrasync sync JOB`); nothing can be doubled"}
	helpAdopt       = phrase{"esta linha em dúvida, ou retida, é o registro da plataforma com este id", "this row that is in doubt, or held, is the platform's record with this id"}
	helpResend      = phrase{"envia outra vez uma linha em dúvida, depois de conferir na plataforma; PODE DUPLICAR", "send a row in doubt again, after looking on the platform; IT MAY DOUBLE"}
	helpDismiss     = phrase{"deixa linhas de fora, com o motivo", "leave rows out, with a reason"}
	helpReopen      = phrase{"desfaz uma dispensa: a linha volta para onde estava; não envia nada", "undo a dismissal: the row stands again where it stood; sends nothing"}
	helpResync      = phrase{"lê de novo e avalia de novo com a configuração de hoje; nunca toca no que foi enviado ou está em dúvida", "read again and judge again with the configuration of today; never touches what was sent or is in doubt"}
	helpAudit       = phrase{"a auditoria: quem decidiu o quê, quando e por quê", "the audit: who decided what, when and why"}
	helpAuditList   = phrase{"lista os atos, o mais antigo primeiro", "list the acts, the oldest first"}
	helpAuditVerify = phrase{"confere se a auditoria está como foi escrita", "check that the audit is as it was written"}

	retryPlan   = phrase{"Tentar na próxima execução, ou já com `safrasync sync` (mesma geração: só o que certamente não foi criado; nada pode dobrar):", "Retry with the next run, or at once by `safrasync sync` (same generation: only what was certainly not created; nothing can be doubled):"}
	dismissPlan = phrase{"Dispensar (não será enviado; `safrasync reopen` desfaz):", "Dismiss (it will not be sent; `safrasync reopen` undoes that):"}
	reopenPlan  = phrase{"Reabrir (cada linha volta para onde estava; isto não envia nada):", "Reopen (each row stands again where it stood; this sends nothing):"}
	adoptPlan   = phrase{"Vincular ao registro que a plataforma já tem:", "Link to the record that the platform has already:"}
	resendPlan  = phrase{"Enviar OUTRA VEZ uma linha que talvez já exista na plataforma:", "Send AGAIN a row that may exist on the platform already:"}

	actKeysOrFilter = phrase{"dê as chaves, ou um filtro (--state, --cause): um dos dois", "give the keys, or a filter (--state, --cause): one of the two"}
	actNotInBulk    = phrase{"%s com filtro não se aplica a linhas em %s; só a: %s", "%s by a filter does not apply to rows in %s; only to: %s"}
	actOtherCount   = phrase{"--count diz %d, mas o plano tem %d linhas; veja o plano de novo", "--count says %d, but the plan has %d rows; look at the plan again"}
	actNeedsCount   = phrase{"são %d linhas: com --yes é preciso também --count %d", "these are %d rows: with --yes it takes --count %d too"}
	actAskCount     = phrase{"São %d linhas. Digite o número para confirmar: ", "These are %d rows. Type the number to go ahead: "}
	actPartly       = phrase{"Uma parte das linhas já foi feita; repita o comando para o resto.", "A part of the rows was done already; repeat the command for the rest."}

	adoptIDOrNone = phrase{"dê o id, ou --no-id: um dos dois", "give the id, or --no-id: one of the two"}

	decideAttempt   = phrase{"envio %d, %s: %s: %s", "sending %d, %s: %s: %s"}
	decidePhase     = phrase{"  até onde chegou: %s", "  how far it got: %s"}
	decideID        = phrase{"  id que a resposta deu: %s", "  id that the answer gave: %s"}
	decideRemaining = phrase{"falta da quarentena: %s (o pedido ainda pode ser executado lá; o relógio da máquina não a encurta, e um reinício a recomeça)", "left of the quarantine: %s (the request may still be executed there; no clock shortens it, and a restart of the machine begins it anew)"}
	decideHolder    = phrase{"o id é da linha %s %s", "the id belongs to row %s %s"}
	decideGives     = phrase{"o id era da linha %s %s, que não está mais no ERP, ou deu lugar a outra: o registro passa para esta linha; aquela fica como enviada, com a marca `moved`, e o que se refere a ela segue com o mesmo id", "the id was that of row %s %s, which is no longer in the ERP, or has another one in its place: its record belongs to this row from now on; that one stays accepted, with the flag `moved`, and what refers to it goes on with the same id"}
	decideLook      = phrase{"procure na plataforma um registro com: %s", "look on the platform for a record with: %s"}
	decideMayDouble = phrase{"se ele estiver lá, não envie: `safrasync adopt`. Enviado outra vez, fica em dobro, e a API não apaga.", "if it is there, do not send: `safrasync adopt`. Sent again it is there twice, and the API deletes nothing."}
	decideField     = phrase{"%s: enviado %s, na plataforma %s", "%s: sent %s, on the platform %s"}
	decideCompared  = phrase{"comparado com a plataforma: %d campos iguais, %d diferentes, %d que ela não mostra", "compared with the platform: %d fields the same, %d different, %d that it does not show"}

	syncAlarm = phrase{"  ALARME %s %s: %s (id da resposta: %s; id conhecido: %s)", "  ALARM %s %s: %s (id of the answer: %s; known id: %s)"}

	resyncPlan     = phrase{"Reler o job %s: %d linhas da consulta; %d novas, %d mudaram no ERP. Ficariam assim:", "Read job %s again: %d rows of the query; %d new, %d changed in the ERP. They would stand so:"}
	resyncState    = phrase{"  %d: %s", "  %d: %s"}
	resyncNever    = phrase{"O que foi enviado ou está em dúvida só é comparado; nada disso sai outra vez.", "What was sent or is in doubt is only compared; nothing of it leaves again."}
	resyncNoChange = phrase{"o job %s não tem changed_at: tire --since, e todas as linhas são relidas", "job %s has no changed_at: leave --since out, and all rows are read again"}
	resyncLine     = phrase{"%s, linha %d:", "%s, line %d:"}
	resyncEmpty    = phrase{"%s não tem nenhuma chave", "%s has no key"}

	auditHeadNo     = phrase{"Nº", "No."}
	auditHeadAt     = phrase{"Quando", "When"}
	auditHeadWho    = phrase{"Quem", "Who"}
	auditHeadFrom   = phrase{"Conta", "Account"}
	auditHeadAct    = phrase{"Ato", "Act"}
	auditHeadTarget = phrase{"Sobre", "On"}
	auditHeadReason = phrase{"Motivo", "Reason"}
	auditWhole      = phrase{"A auditoria está como foi escrita.", "The audit is as it was written."}
	auditBroken     = phrase{"A auditoria foi alterada: o registro %d falta ou não é o que foi escrito. Compare com um backup.", "The audit was altered: record %d is missing or not what was written. Compare it with a backup."}
)

// alarmWords say what a late answer means.
var alarmWords = map[trade.AlarmKind]phrase{
	trade.LateAfterDismissal: {"a plataforma criou o registro: a resposta chegou depois que uma pessoa dispensou a linha, que agora consta como enviada", "the platform created the record: the answer came after a person had dismissed the row, which is accepted now"},
	trade.LateBeforeResend:   {"o primeiro envio tinha criado o registro; o segundo, que uma pessoa ordenou, não sai mais", "the first sending had created the record; the second, which a person ordered, does not leave any more"},
	trade.LateDouble:         {"PODE ESTAR EM DOBRO: o primeiro envio criou o registro, e uma pessoa já o mandou outra vez; exclua um dos dois na plataforma", "IT MAY BE THERE TWICE: the first sending created the record, and a person has had it sent again; delete one of the two on the platform"},
	trade.LateContradiction:  {"a resposta chegou tarde e diz outra coisa do que o id que uma pessoa deu; confira na plataforma", "the answer came late and says otherwise than the id that a person gave; look on the platform"},
}

// phaseWords say how far a request got.
var phaseWords = map[string]phrase{
	"got_conn":   {"a conexão estava pronta; nenhum byte saiu", "the connection was ready; no byte left"},
	"wrote_some": {"uma parte do pedido saiu", "a part of the request left"},
	"wrote_all":  {"o pedido inteiro saiu, e nenhuma resposta chegou", "the whole request left, and no answer came"},
	"first_byte": {"o pedido inteiro saiu, e a resposta se cortou no começo", "the whole request left, and the answer was cut at its beginning"},
	"headers":    {"a resposta chegou só em parte", "the answer came only in part"},
	"body":       {"a resposta chegou só em parte", "the answer came only in part"},
	"complete":   {"a resposta chegou inteira", "the answer came completely"},
}

// decisionRefusals say why a decision about a row cannot be carried out.
var decisionRefusals = map[engine.Refusal]phrase{
	engine.GoesAnyway:    {"segue sozinha na próxima execução", "it goes by itself with the next run"},
	engine.WaitsFor:      {"falta um de-para ou o contrato; segue sozinha quando chegar", "a reference or its contract is missing; it goes by itself when that is there"},
	engine.IsInvalid:     {"há dados errados no ERP; corrija lá, e segue sozinha", "its data in the ERP are wrong; correct them there, and it goes by itself"},
	engine.IsInDoubt:     {"talvez já exista na plataforma; procure lá e use `safrasync adopt`, `resend` ou `dismiss`", "it may exist on the platform; look there and use `safrasync adopt`, `resend` or `dismiss`"},
	engine.IsAccepted:    {"a plataforma já tem o registro", "the platform has the record"},
	engine.IsSending:     {"está sendo enviada neste momento", "it is being sent at this moment"},
	engine.IsDismissed:   {"foi dispensada; `safrasync reopen` desfaz", "it was dismissed; `safrasync reopen` undoes that"},
	engine.IsWithdrawn:   {"não está no ERP; segue sozinha se voltar", "it is not in the ERP; it goes by itself if it comes back"},
	engine.GoneFromERP:   {"a consulta do job não a traz mais do ERP", "the job's query does not return it any more"},
	engine.CancelledNow:  {"está cancelada no ERP", "it is cancelled in the ERP"},
	engine.DoubleKey:     {"a chave aparece mais de uma vez no ERP; corrija lá, e segue sozinha", "the key stands more than once in the ERP; correct it there, and it goes by itself"},
	engine.DoubtBefore:   {"um envio anterior está em dúvida e pode tê-la criado; use `safrasync adopt`, ou `resend`", "an earlier sending is in doubt and may have created it; use `safrasync adopt`, or `resend`"},
	engine.NotInDoubt:    {"não há dúvida sobre ela; para enviar o que foi recusado use `safrasync retry`", "nothing of it is in doubt; to send what was refused use `safrasync retry`"},
	engine.NotDismissed:  {"ninguém a dispensou", "nobody dismissed it"},
	engine.InQuarantine:  {"cedo demais", "it is too early"},
	engine.NotChecked:    {"confira na plataforma e repita com --checked", "look on the platform and repeat with --checked"},
	engine.NotAnID:       {"isto não é um id deste tipo de registro", "that is no id of this kind of record"},
	engine.NeedsID:       {"contratos se leem de volta: é preciso o id", "contracts can be read back: it takes the id"},
	engine.IDTaken:       {"outra linha já tem este id", "another row has this id already"},
	engine.NotOnPlatform: {"a plataforma não conhece este id", "the platform does not know this id"},
	engine.Differs:       {"o registro da plataforma não é o que foi enviado, ou não mostra nada que se compare; se for ele mesmo assim: --despite-differences", "the platform's record is not what was sent, or shows nothing that can be compared; if it is the one all the same: --despite-differences"},
}
