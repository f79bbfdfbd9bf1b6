package main

import "github.com/safrasync/safrasync/state"

// What is said of the ledger, its journal, and the commands that look after both.
var (
	ledgerSettled = phrase{
		"o processo anterior terminou entre o diário e o registro local: %d resposta(s) recuperada(s) do diário, %d linha(s) agora em dúvida",
		"the earlier process ended between journal and ledger: %d answer(s) taken from the journal, %d row(s) now in doubt",
	}

	ledgerTightened = phrase{
		"aviso: %s podia ser lido por outros usuários (modo %04o): o modo agora é %04o",
		"note: %s could be read by other users (mode %04o): its mode is %04o now",
	}
	ledgerOpen = phrase{
		"aviso: %[1]s pode ser lido por outros usuários (modo %04[2]o) e não é deste: rode, como o dono: chmod %04[3]o %[1]s",
		"note: %[1]s can be read by other users (mode %04[2]o) and is not this one's: run, as its owner: chmod %04[3]o %[1]s",
	}

	ledgerNone = phrase{"aviso: %s", "note: %s"}

	ledgerActSettled = phrase{
		"o registro local não tinha a última decisão de uma pessoa, que estava no diário: foi aplicada (um reenvio não: a linha fica em dúvida); veja `safrasync audit list`",
		"the ledger lacked a person's last decision, which the journal had: it was carried out (a second sending was not: that row stays in doubt); see `safrasync audit list`",
	}

	helpDoctor  = phrase{"confere o registro local, o diário, o disco e as permissões; só altera algo com --recount, que conta as somas de novo", "check the ledger, the journal, disk and rights; changes nothing but with --recount, which counts the sums anew"}
	helpBackup  = phrase{"copia o registro local, mesmo em uso, para um arquivo novo ou, com --keep, para uma pasta de cópias com data", "copy the ledger, also while it is in use, into a new file or, with --keep, into a folder of dated copies"}
	helpRestore = phrase{"põe uma cópia no lugar do registro local; o que estava lá é guardado", "put a copy in the ledger's place; what stood there is kept"}
	helpRebuild = phrase{"refaz a partir do diário o que falta no registro local", "make from the journal what the ledger lacks"}

	backupDone    = phrase{"Cópia feita e conferida: %s", "Copied and checked: %s"}
	saysKeep      = phrase{"--keep deve ser 1 ou mais", "--keep must be 1 or more"}
	backupRemoved = phrase{"Removida: %s", "Removed: %s"}
	backupBroken  = phrase{
		"aviso: a cópia %s não está inteira: não conta e não é removida; veja o disco e apague-a",
		"note: the copy %s is not whole: it does not count and is not removed; see to the disk and delete it",
	}
	restorePlan  = phrase{"%s tomará o lugar de %s; o registro atual será guardado ao lado.", "%s will take the place of %s; the present ledger will be kept beside it."}
	restoreDone  = phrase{"Registro local restaurado de %s.", "Ledger restored from %s."}
	restoreKept  = phrase{"O anterior está em %s.", "The one before it is in %s."}
	restoreLacks = phrase{"Atenção: %s\n  → %s", "Note: %s\n  → %s"}
	restoreSame  = phrase{"Está de acordo com o diário: nada falta.", "It is in step with its journal: nothing is missing."}

	rebuildFrom    = phrase{"Diário: %s, %d registros até %s.", "Journal: %s, %d records until %s."}
	rebuildChange  = phrase{"  %7d  %s: %s → %s", "  %7d  %s: %s → %s"}
	rebuildAdded   = phrase{"  %7d  %s: %s (tentativas acrescentadas)", "  %7d  %s: %s (attempts added)"}
	rebuildSame    = phrase{"  %7d  já como o diário diz", "  %7d  as the journal says already"}
	rebuildDamaged = phrase{
		"O arquivo %s está danificado: será guardado com outro nome.",
		"The file %s is damaged: it is kept under another name.",
	}
	rebuildMakesAnew = phrase{
		"Um registro local novo é feito do diário. De-para e auditoria não estão no diário: importe o de-para de novo, ou as linhas novas o esperam.",
		"A new ledger is made from the journal. References and audit are not in the journal: import the references again, or new rows wait for them.",
	}
	rebuildPaused  = phrase{"  job %s: pausado de novo, como uma pessoa o deixou", "  job %s: paused again, as a person had left it"}
	rebuildNothing = phrase{"O registro local já tem tudo o que o diário sabe.", "The ledger has everything already that the journal knows."}
	rebuildDone    = phrase{"Feito: %d linha(s). Nada será enviado de novo; a próxima varredura completa os dados.", "Done: %d row(s). Nothing will be sent again; the next sweep fills in the rest."}
	rebuildAbsent  = phrase{"ausente", "absent"}
	journalPlan    = phrase{
		"Um diário novo começará em %s com o que o registro local sabe: %d linha(s) enviada(s); %d que estavam a caminho ficam em dúvida.",
		"A new journal will begin in %s with what the ledger knows: %d row(s) sent; %d that were on the wire become in doubt.",
	}
	journalAside = phrase{"O diário que está lá será guardado com outro nome.", "The journal that stands there will be kept under another name."}
	journalWarn  = phrase{
		"Confirme somente se este registro local é o certo e nenhum outro está em uso: o que só o diário perdido sabia não será percebido.",
		"Confirm only if this ledger is the right one and no other is in use: what only the lost journal knew will not be noticed.",
	}
	journalDone = phrase{"Diário novo em %s.", "New journal in %s."}

	checkJournalOK             = phrase{"%s, %d registros, de acordo com o registro local", "%s, %d records, in step with the ledger"}
	checkJournalNew            = phrase{"%s; a primeira execução o começa", "%s; the first run begins it"}
	checkJournalUnfinished     = phrase{"%s tem um registro que o registro local ainda não tem", "%s has one record that the ledger does not have yet"}
	checkJournalUnfinishedHint = phrase{
		"um processo está gravando, ou terminou no meio; a próxima execução resolve",
		"a process is writing, or ended in between; the next run settles it",
	}
)

// faultPhrase is what is wrong with a ledger, and what to do.
type faultPhrase struct{ what, hint phrase }

// ledgerFaults say in Portuguese what package state says in English; the English sides are for the completeness of the table.
var ledgerFaults = map[string]faultPhrase{
	state.CodeRolledBack: {
		phrase{"o registro local %s é mais antigo que o seu diário: faltam %d registro(s) desde %s, com %d linha(s) que foram enviadas", "the ledger %s is older than its journal: %d record(s) are missing since %s, with %d row(s) that were sent"},
		phrase{"Nada foi enviado. `safrasync rebuild` mostra o que falta e o acrescenta", "nothing was sent; `safrasync rebuild` shows what is missing and adds it"},
	},
	state.CodeEmptied: {
		phrase{"o registro local %s está vazio ou sumiu, mas %d linha(s) foram enviadas", "the ledger %s is empty or gone, but %d row(s) were sent"},
		phrase{"Nada foi enviado. Restaure a cópia com `safrasync restore ARQUIVO`, ou rode `safrasync rebuild`, que o refaz a partir do diário", "nothing was sent; restore the copy with `safrasync restore FILE`, or run `safrasync rebuild`, which makes it from the journal"},
	},
	state.CodeAbsent: {
		phrase{"não há registro local em %s (%v)", "there is no ledger in %s (%v)"},
		phrase{
			"Nada é enviado. Monte o disco dele, se não está montado, ou corrija state.dsn; um que se perdeu volta com `safrasync restore ARQUIVO` ou `safrasync rebuild`; só onde nunca houve um, na primeira instalação, comece-o com `safrasync state new`",
			"nothing is sent; mount its disk if that is not mounted, or correct state.dsn; one that was lost comes back by `safrasync restore FILE` or `safrasync rebuild`; only where none ever was, at the first set-up, begin it with `safrasync state new`",
		},
	},
	state.CodeStands: {
		phrase{"em %s já há um registro local (%v)", "a ledger stands in %s already (%v)"},
		phrase{"Nada foi mudado. Use-o, ou escreva outro lugar em state.dsn", "nothing was changed; use it, or name another place in state.dsn"},
	},
	state.CodeMoved: {
		phrase{"o registro local %s foi levado para outro lugar e não envia mais nada (%v)", "the ledger %s sends nothing any more (%v)"},
		phrase{"Escreva o lugar novo em state.driver e state.dsn; este fica para consulta", "set state.driver and state.dsn to the new place; this one is kept for people to look at"},
	},
	state.CodeServer: {
		phrase{"o registro local %s está em outro servidor PostgreSQL, ou numa réplica que foi promovida (%v)", "the ledger %s is on another PostgreSQL server, or on a replica that was promoted (%v)"},
		phrase{"Nada foi enviado. Compare o diário de cada máquina com este registro local (`safrasync check` em cada uma); depois rode `safrasync state rebind --reason TEXTO`", "nothing was sent; compare the journal of every host with this ledger (`safrasync check` on each); then run `safrasync state rebind --reason TEXT`"},
	},
	state.CodeJournalLost: {
		phrase{"o registro local %s não tem o seu diário, ou tem mais que ele (%v)", "the ledger %s lacks its journal, or has more than it (%v)"},
		phrase{"Nada foi enviado. Devolva o diário ao lugar; se ele se perdeu e este registro local é o certo, rode `safrasync rebuild --new-journal --reason TEXTO`", "nothing was sent; put the journal back; if it is lost and this ledger is the right one, run `safrasync rebuild --new-journal --reason TEXT`"},
	},
	state.CodeCopied: {
		phrase{"o registro local %s é uma cópia, ou mudou de máquina (%v)", "the ledger %s is a copy, or has moved to another host (%v)"},
		phrase{"Nada foi enviado. Se este é o certo e nenhum outro está em uso, rode `safrasync rebuild --new-journal --reason TEXTO`", "nothing was sent; if it is the right one and no other is in use, run `safrasync rebuild --new-journal --reason TEXT`"},
	},
	state.CodeJournal: {
		phrase{"o diário do registro local %s não pode ser usado (%v)", "the journal of the ledger %s cannot be used (%v)"},
		phrase{"Nada foi enviado. Veja a pasta state.journal, suas permissões e o disco; se o arquivo está danificado, restaure-o, ou rode `safrasync rebuild --new-journal --reason TEXTO`", "nothing was sent; look at the folder state.journal, its rights and its disk; if the file is damaged, restore it, or run `safrasync rebuild --new-journal --reason TEXT`"},
	},
}

var ledgerElsewhere = faultPhrase{
	phrase{"o registro local %s é novo, mas o diário desta pasta, do registro que ficava em %s, diz que %d linha(s) foram enviadas", "the ledger %s is new, but the journal of this folder, of the ledger that stood at %s, says that %d row(s) were sent"},
	phrase{"Nada foi enviado. Se é o mesmo que mudou de lugar: restaure a cópia com `safrasync restore ARQUIVO`, ou rode `safrasync rebuild`, que o refaz a partir do diário. Se é outro: dê a este uma pasta própria em state.journal", "nothing was sent; if it is the same that was moved: restore the copy with `safrasync restore FILE`, or run `safrasync rebuild`, which makes it from the journal; if it is another one: give this one a folder of its own in state.journal"},
}

var ledgerForgot = faultPhrase{
	phrase{"o registro local %s mudou durante o uso (%v)", "the ledger %s changed while it was in use (%v)"},
	phrase{"Nada mais foi enviado. Execute de novo: a abertura resolve ou diz o que falta", "nothing more was sent; start again: the opening settles it or says what is missing"},
}
