package main

import "github.com/safrasync/safrasync/state"

// What purge says: of the retention, and of what is held about one producer.
var (
	bundleDone = phrase{"Escrito: %s, sem segredos, pessoas, chaves, ids nem valores; confira antes de enviar.", "Written: %s, without secrets, persons, keys, ids or values; look at it before you send it."}

	helpPurge = phrase{"tira o que já não é preciso guardar, ou o que se guarda sobre um produtor", "take away what need not be kept any more, or what is held about one producer"}

	purgePlan        = phrase{"Sai do registro local:", "Goes from the ledger:"}
	purgeHeadKind    = phrase{"o quê", "what"}
	purgeHeadBefore  = phrase{"de antes de", "from before"}
	purgeHeadRows    = phrase{"registros", "records"}
	purgeHeadBytes   = phrase{"bytes, cerca de", "bytes, about"}
	purgeHeadKept    = phrase{"ficam, pois são precisos", "stay, being needed"}
	purgeNever       = phrase{"Chaves, ids da plataforma, estados, datas e hashes ficam sempre: impedem um segundo envio.", "Keys, platform ids, states, times and hashes always stay: they prevent a second sending."}
	purgeDone        = phrase{"Feito.", "Done."}
	purgeNoKind      = phrase{"não há o tipo %s; há %s", "there is no kind %s; there are %s"}
	purgeOneOrOther  = phrase{"--producer não vai com --kind nem --before", "--producer does not go with --kind or --before"}
	purgeExportNeeds = phrase{"--export vai com --producer", "--export goes with --producer"}

	subjectFound    = phrase{"Sobre este produtor: %d linha(s), %d código(s) no de-para, %d consulta(s) por documento, %d ato(s) na auditoria.", "About this producer: %d row(s), %d code(s) in the references, %d lookup(s) by document, %d act(s) in the audit."}
	subjectExports  = phrase{"Será escrito em %s, fora da proteção do sistema: guarde-o com cuidado e apague-o depois.", "It will be written to %s, outside the protection of the system: keep it with care and delete it afterwards."}
	subjectExported = phrase{"Escrito: %s (JSON) e %s.txt (para leitura); só o dono dos arquivos pode lê-los.", "Written: %s (JSON) and %s.txt (for reading); only the owner of the files may read them."}
	subjectErases   = phrase{"Valores, pedidos e respostas saem de %d linha(s); de %d já saíram; %d ficam como estão, pois são precisas:", "Values, requests and answers go from %d row(s); from %d they are gone already; %d stay as they are, being needed:"}
	subjectStays    = phrase{"  %s %s: %s", "  %s %s: %s"}
	subjectRefs     = phrase{"O de-para fica, pois as próximas linhas esperariam por ele; `safrasync refs remove producers CÓDIGO` o tira.", "The references stay, since the next rows would wait for them; `safrasync refs remove producers CODE` takes them away."}
	subjectClosed   = phrase{
		"Em %d relatório(s) fechado(s) há linhas deste produtor: contrato, código, volumes e preços, sem nome nem documento. Ficam como foram fechados, pois provam o mês (LGPD, art. 16, I); `safrasync report --closing ID --producer CÓDIGO` as mostra.",
		"%d closed report(s) have rows of this producer: contract, code, volumes and prices, without name and document. They stay as they were closed, since they prove the month (LGPD art. 16 I); `safrasync report --closing ID --producer CODE` shows them.",
	}
	subjectErased = phrase{"Feito: %d linha(s). O que impede um segundo envio fica (LGPD, art. 16, I).", "Done: %d row(s). What prevents a second sending stays (LGPD, art. 16 I)."}

	subjectTitle     = phrase{"O que o safrasync guarda sobre um produtor, em %s\nNa plataforma: %s\nNo ERP: %s\n", "What safrasync holds about a producer, on %s\nOn the platform: %s\nIn the ERP: %s\n"}
	subjectRowsTitle = phrase{"Linhas: %d", "Rows: %d"}
	subjectRowLine   = phrase{"  %s %s (%s): %s; desde %s, última mudança %s", "  %s %s (%s): %s; since %s, last change %s"}
	subjectRemote    = phrase{"      na plataforma: %s", "      on the platform: %s"}
	subjectByMark    = phrase{"      reconhecida pelo que restou dos seus valores; com probabilidade muito pequena é de outro produtor", "      recognised by what is left of its values; with a very small probability it is another producer's"}
	subjectReduced   = phrase{"      valores, pedidos e respostas não são mais guardados desde %s", "      values, requests and answers are no longer kept since %s"}
	subjectAttempt   = phrase{"      enviada em %s: %s", "      sent on %s: %s"}
	subjectActsTitle = phrase{"\nAtos de pessoas: %d", "\nActs of people: %d"}
	subjectActLine   = phrase{"  %s %s: %s %s: %s", "  %s %s: %s %s: %s"}

	subjectClosedTitle = phrase{"\nRelatórios fechados com linhas deste produtor: %d", "\nClosed reports with rows of this producer: %d"}
	subjectClosedLine  = phrase{"  %s, fechado em %s: %s", "  %s, closed on %s: %s"}

	subjectNoteERP    = phrase{"Não está aqui o que o ERP guarda: o safrasync só o lê.", "What the ERP holds is not here: safrasync only reads it."}
	subjectNoteLogs   = phrase{"Os logs não têm nomes, documentos, preços nem corpos; cópias de segurança têm o que o registro local tinha no seu dia.", "Logs have no names, documents, prices or bodies; backups have what the ledger had on their day."}
	subjectNoteClosed = phrase{
		"Relatórios fechados (`safrasync report --closings`) conservam as linhas como estavam: `safrasync report --closing ID --producer CÓDIGO -o ARQUIVO` as mostra.",
		"Closed reports (`safrasync report --closings`) keep the rows as they were: `safrasync report --closing ID --producer CODE -o FILE` shows them.",
	}
	subjectNotePlatform = phrase{"O que a plataforma guarda pede-se a ela.", "What the platform holds is asked of the platform."}
)

// purgeKinds are the kinds of data that the retention knows.
var purgeKinds = map[string]phrase{
	state.KeptBodies:     {"valores, pedidos e respostas", "values, requests and answers"},
	state.KeptRuns:       {"execuções", "runs"},
	state.KeptLookups:    {"consultas por documento", "lookups by document"},
	state.KeptQuarantine: {"quarentenas terminadas", "quarantines that are over"},
	state.KeptInbox:      {"eventos da plataforma", "events of the platform"},
	state.KeptAudit:      {"pessoas e motivos na auditoria", "persons and reasons in the audit"},
	state.KeptJournal:    {"diário que recomeça", "journal that begins again"},
}
