package main

import engine "github.com/safrasync/safrasync/sync"

// What acknowledge, pause, resume and release say, and what is told of rows that the ERP changed after they were sent.
var (
	helpAcknowledge = phrase{"dá por tratado o que o ERP mudou numa linha já enviada: a marca some até a próxima mudança", "what the ERP did to a row that was sent has been dealt with: the flag goes until the next change"}
	helpPause       = phrase{"nada mais deste job sai, até `resume`", "nothing more of this job leaves, until `resume`"}
	helpResume      = phrase{"termina a pausa de um job", "end the pause of a job"}
	helpRelease     = phrase{"confirma o que um freio mostrou, e o job segue", "confirm what a brake has shown, and the job goes on"}

	actRow     = phrase{"%s %s: %s", "%s %s: %s"}
	actLine    = phrase{"  %s", "  %s"}
	actRefused = phrase{"%s %s: não se aplica: %s", "%s %s: does not apply: %s"}
	actDone    = phrase{"%s %s: feito", "%s %s: done"}
	actNothing = phrase{"Nada a fazer.", "There is nothing to do."}
	actNoNote  = phrase{"falta --reason TEXTO (ou --note): o motivo aparece para quem encontra o job pausado", "--reason TEXT (or --note) is missing: it is what others read who find the job paused"}

	ackPlan = phrase{"Reconhecer (a plataforma não muda: a API não altera nem apaga; o que for preciso faz-se lá, à mão):", "Acknowledge (the platform does not change: the API neither alters nor deletes; what is needed is done there by hand):"}

	pauseDone   = phrase{"%s: pausado. O que já estava a caminho termina; nada mais sai. `safrasync resume %s` retoma.", "%s: paused. What was on its way ends; nothing more leaves. `safrasync resume %s` ends that."}
	resumeDone  = phrase{"%s: retomado; a próxima execução continua.", "%s: resumed; the next run goes on."}
	releaseDo   = phrase{"Liberar o job %s:", "Release job %s:"}
	releaseGo   = phrase{"  freio: %s", "  brake: %s"}
	releaseStop = phrase{"  parada: %s", "  stop: %s"}
	releaseBig  = phrase{"  varredura: a próxima vale, mesmo que ache só cerca de %d das linhas conhecidas; as outras ficam marcadas como sumidas do ERP", "  sweep: the next one counts, although it finds only about %d of the known rows; the others are flagged as missing from the ERP"}
	releaseEnd  = phrase{"%s: liberado; a próxima execução continua (`safrasync sync %s`).", "%s: released; the next run goes on (`safrasync sync %s`)."}

	helpJob     = phrase{"jobs que mudaram de nome", "jobs that have another name now"}
	helpJobMove = phrase{"as linhas do job OLD, que saiu da configuração, passam a NEW: é o mesmo job com outro nome", "the rows of job OLD, which is not configured any more, go to NEW: it is the same job under another name"}

	jobMoveDo       = phrase{"%d linhas passam do job %s ao job %s: %s", "%d rows go from job %s to job %s: %s"}
	jobMoveReplaced = phrase{"  %d linhas de %s com as mesmas chaves, que nunca foram enviadas, dão lugar a elas", "  %d rows of %s with the same keys, which were never sent, give way to them"}
	jobMoveLeft     = phrase{"  %d linhas de %s que nunca foram enviadas ficam: as de %s com as mesmas chaves valem", "  %d rows of %s that were never sent stay: those of %s with the same keys count"}
	jobMovePaused   = phrase{"  o job %s fica pausado", "  job %s is paused afterwards"}
	jobMoveDone     = phrase{"%d linhas passaram do job %s ao job %s; a próxima execução compara tudo (`safrasync sync %s`).", "%d rows went from job %s to job %s; the next run compares everything (`safrasync sync %s`)."}
	jobMoveCollide  = phrase{
		"job move: não se aplica: %d chaves foram enviadas (ou decididas por uma pessoa) nos dois jobs, %s e %s, por exemplo %s; nada mudou. Sem o move as linhas de %s continuam contando: nenhuma chave delas sai de novo por outro job",
		"job move: does not apply: %d keys were sent, or decided about by a person, in both jobs, %s and %s, such as %s; nothing has changed. Without the move the rows of %s still count: no key of theirs is sent by another job",
	}

	sinceChanged   = phrase{"mudou no ERP depois do envio: %s: enviado %s, agora %s", "changed in the ERP after it was sent: %s: sent %s, now %s"}
	sinceDealt     = phrase{"mudou no ERP depois do envio: %s: enviado %s, tratado %s, agora %s", "changed in the ERP after it was sent: %s: sent %s, dealt with %s, now %s"}
	sinceMissing   = phrase{"não está mais no ERP; o registro continua na plataforma", "it is no longer in the ERP; the record is still on the platform"}
	sinceCancelled = phrase{"está cancelada no ERP; o registro continua na plataforma", "it is cancelled in the ERP; the record is still on the platform"}
	sinceAdvice    = phrase{"depois de acertar na plataforma, à mão: `safrasync acknowledge %s '%s' --reason TEXTO`", "after it was put right on the platform, by hand: `safrasync acknowledge %s '%s' --reason TEXT`"}
	sinceAcked     = phrase{"dado como tratado: %s", "dealt with: %s"}
	sinceNothing   = phrase{"nada", "nothing"}
	sinceNoValue   = phrase{"«%s» no ERP, que não pode ser convertido", "\"%s\" in the ERP, which cannot be mapped"}
	sinceColumn    = phrase{"coluna %s", "column %s"}

	brakeNewRows = phrase{
		"FREIO: %d linhas novas, quando o normal são %d (o freio age acima de %d); por exemplo %s. Nada saiu. Confira no ERP; se estiver certo: `safrasync release %s --reason TEXTO`",
		"BRAKE: %d new rows, where %d are usual (the brake acts above %d), such as %s. Nothing left. Look at them in the ERP; if they are right: `safrasync release %s --reason TEXT`",
	}
	brakeRetyped = phrase{
		"FREIO: %d linhas novas têm o conteúdo de linhas já enviadas com outra chave, que não estão mais lá (redigitadas ou renumeradas) ou são de outro job; por exemplo %s. Nada saiu. Depois de `safrasync release %s --reason TEXTO` cada uma fica retida, e as outras seguem",
		"BRAKE: %d new rows have the content of rows that were sent under other keys, and stand there no more (typed or numbered anew) or are of another job, such as %s. Nothing left. After `safrasync release %s --reason TEXT` each of them is held, and the others go",
	}
	brakeChangedKey = phrase{
		"FREIO: a configuração distingue as linhas por %s; antes era por %s. Das %d linhas conhecidas, %d sumiriam, e %d pareceriam novas; por exemplo %s. Nada foi gravado nem saiu. Corrija a configuração, ou confirme que é assim; depois: `safrasync release %s --reason TEXTO`",
		"BRAKE: the configuration tells rows apart by %s; before it was by %s. Of %d known rows %d would be gone, and %d would look new, such as %s. Nothing was recorded, and nothing left. Correct the configuration, or make sure that it is right; then: `safrasync release %s --reason TEXT`",
	}
	brakeSpace = phrase{
		"o identity do job %s mudou: as suas %d linhas no estado são de identity \"%s\", e a configuração diz \"%s\"; o que outros jobs enviaram poderia ir de novo. Se as linhas forem de outro ERP: `safrasync release %s --reason TEXTO`. Se não: volte a identity \"%s\" e libere o job",
		"the identity of job %s changed: its %d entries in the ledger are of identity \"%s\", and the configuration says \"%s\"; what other jobs have sent could go again. If its rows are of another ERP: `safrasync release %s --reason TEXT`. If not: put identity \"%s\" back, and release the job",
	}
	brakeNewJob = phrase{
		"FREIO: o job %s é novo, e o estado tem linhas de jobs que as enviaram e não as têm mais: %s. Nada saiu. %s" +
			"Se as linhas dele são outras: `safrasync release %s --reason TEXTO` (uma chave ou um conteúdo que outro job já enviou fica retido; uma linha sem nenhum dos dois vai)",
		"BRAKE: job %s is new, and the ledger has rows of jobs that have sent them and have them no more: %s. Nothing left. %s" +
			"If its rows are others: `safrasync release %s --reason TEXT` (a key or a content that another job has sent is held; a row goes that has neither)",
	}
	brakeRenamed = phrase{
		"Se é o mesmo job com outro nome: `safrasync job move %s %s --reason TEXTO`. ",
		"If it is the same job under another name: `safrasync job move %s %s --reason TEXT`. ",
	}
	brakeSplit = phrase{
		"Se linhas de outro job passam a ele: dê a ele a chave (key) daquele, para que sejam reconhecidas. ",
		"If rows of another job come to it from now on: give it the key of that job, so that they are known. ",
	}
	brakeFormer = phrase{"%s (%d aceitas, %d em dúvida, fora da configuração)", "%s (%d accepted, %d in doubt, not configured any more)"}
	brakeApart  = phrase{", cujas chaves são de outro identity e não são comparadas", ", whose keys are of another identity and not compared"}
	brakeGone   = phrase{"%s (%d aceitas, %d em dúvida; a consulta não traz mais %d)", "%s (%d accepted, %d in doubt; its query returns %d no more)"}
	brakeSweep  = phrase{
		"a varredura achou %d de %d linhas conhecidas; nada foi dado como sumido. Confira a visão, as permissões e o esquema no ERP e rode `safrasync sync %s --sweep`; se o ERP tem mesmo menos linhas: `safrasync release %s --reason TEXTO`",
		"the sweep found %d of %d known rows; nothing is taken for missing. Look at the view, the rights and the schema in the ERP and run `safrasync sync %s --sweep`; if the ERP has really fewer rows: `safrasync release %s --reason TEXT`",
	}
	brakeMost = phrase{
		"FREIO: estão prontas para sair %s, e uma execução pode enviar %s; por exemplo %s. Nada mais sai. Confira no ERP; se estiver certo: `safrasync release %s --reason TEXTO`",
		"BRAKE: %s are due, and one run may send %s, such as %s. Nothing more leaves. Look at them in the ERP; if they are right: `safrasync release %s --reason TEXT`",
	}
	brakeCanary = phrase{
		"FREIO: a consulta ou o mapeamento mudou, e as primeiras %d linhas já foram com ele; por exemplo %s. As outras esperam. Confira essas linhas na plataforma; se estiverem certas: `safrasync release %s --reason TEXTO`; senão, corrija a configuração primeiro",
		"BRAKE: query or mapping changed, and the first %d rows went with it, such as %s. The others wait. Look at these rows on the platform; if they are right: `safrasync release %s --reason TEXT`; else correct the configuration first",
	}
	freightRows   = phrase{"%d linhas", "%d rows"}
	freightTonnes = phrase{"%s t", "%s t"}
	brakeIdentity = phrase{"chave %s, tabelas %s", "key %s, tables %s"}
)

// refusalWords say why an act cannot be done.
var refusalWords = map[engine.Refusal]phrase{
	engine.UnknownRow:      {"o job não conhece esta linha", "the job does not know this row"},
	engine.NothingToAck:    {"não há marca de alterado, sumido ou cancelado", "it is not flagged as changed, missing or cancelled"},
	engine.NotAccepted:     {"primeiro é preciso saber se a plataforma tem o registro; a marca espera até lá", "it must be known first whether the platform has the record; the flag waits until then"},
	engine.Moved:           {"mudou enquanto era confirmado; veja de novo e repita", "it moved while it was confirmed; look again and repeat"},
	engine.NotPaused:       {"o job não está pausado", "the job is not paused"},
	engine.AlreadyPaused:   {"o job já está pausado; `safrasync status` diz por quem e por quê", "the job is paused already; `safrasync status` says by whom and why"},
	engine.BrakeHolds:      {"quem o segura é um freio; confira o que ele mostra (`safrasync status`) e use `safrasync release`", "a brake holds it; look at what it shows (`safrasync status`) and use `safrasync release`"},
	engine.StillConfigured: {"o job antigo está na configuração: tire-o dela primeiro, senão ele acharia as suas linhas como novas", "the old job is configured: take it out of the configuration first, or it would find its rows anew"},
	engine.NotConfigured:   {"o job novo não está na configuração: ponha-o nela primeiro", "the new job is not configured: put it into the configuration first"},
	engine.OtherKind:       {"os dois jobs não enviam o mesmo (`sends`)", "the two jobs do not send the same (`sends`)"},
	engine.NoEntries:       {"o estado não tem linhas do job antigo; `safrasync check` diz de que jobs ele tem", "the ledger has no rows of the old job; `safrasync check` says of which jobs it has"},
	engine.KeysCollide:     {"os dois jobs enviaram linhas com as mesmas chaves", "both jobs have sent rows with the same keys"},
	engine.NothingBraked:   {"nenhum freio nem parada o segura", "no brake and no stop holds it"},
}
