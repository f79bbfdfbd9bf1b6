package main

// What report and decisions say.
var (
	helpReport = phrase{"a conciliação ERP × plataforma: resumo que fecha em zero, contratos, entregas, totais, divergências, exceções", "the reconciliation of ERP and platform: a summary that closes to zero, contracts, deliveries, totals, divergences, exceptions"}

	reportWhichFormat  = phrase{"%s: diga a forma com --format: %s", "%s: say its form with --format: %s"}
	reportNoFormat     = phrase{"--format %s não existe; há %s", "there is no --format %s; there are %s"}
	reportFailedFormat = phrase{"--failed precisa de --format xlsx ou csv: é um arquivo para preencher", "--failed needs --format xlsx or csv: it is a file to be filled in"}
	reportTooLarge     = phrase{"a planilha passaria de 4 GiB, e o Excel não a abriria: escolha menos linhas (--from, --to, --job …) ou --format csv; nada foi gravado", "the workbook would have more than 4 GiB, and Excel would not open it: choose fewer rows (--from, --to, --job …) or --format csv; nothing was written"}
	reportNeedsFile    = phrase{"uma planilha não se mostra no terminal: diga --output ARQUIVO", "a workbook cannot be shown on a terminal: give --output FILE"}
	reportNoDay        = phrase{"%q não é um dia; escreva 31/10/2026 ou 2026-10-31", "%q is no day; write 2026-10-31 or 31/10/2026"}
	reportBackwards    = phrase{"--from %s vem depois de --to %s", "--from %s is after --to %s"}
	reportFuture       = phrase{"%s ainda não chegou", "%s has not come yet"}
	reportPlatformNow  = phrase{"--platform diz o que a plataforma tem hoje: não se aplica a uma data passada", "--platform says what the platform has today: it does not apply to a past day"}
	reportNoSection    = phrase{"--section %s não existe; há %s", "there is no --section %s; there are %s"}
	reportNoBy         = phrase{"--by %s não existe; há %s", "there is no --by %s; there are %s"}
	reportNoClosing    = phrase{"não há fechamento %s; veja `safrasync report --closings`", "there is no closing %s; see `safrasync report --closings`"}
	reportWritten      = phrase{"Gravado em %s, que só você lê. A partir daqui a proteção do arquivo é sua.", "Written to %s, which only you can read. From here on it is yours to protect."}
	reportReading      = phrase{"lendo o registro local: %d linhas", "reading the ledger: %d rows"}
	reportNothing      = phrase{"  nada", "  nothing"}
	reportMore         = phrase{"  … as primeiras %d de %d; todas com --format xlsx ou csv (--section %s)", "  … the first %d of %d; all of them with --format xlsx or csv (--section %s)"}

	closePlan    = phrase{"Fechar %s com a posição de agora: %d linhas, %d divergências. O que for fechado fica guardado como está, com o seu nome, e não pode ser alterado.", "Close %s as things stand now: %d rows, %d divergences. What is closed is kept as it is, with your name, and cannot be altered."}
	closeNoMonth = phrase{"%q não é um mês; escreva 2026-10, 10/2026 ou o último dia dele", "%q is no month; write 2026-10, 10/2026, or its last day"}
	closeEarly   = phrase{"não há documento até %s: nada a fechar", "there is no document up to %s: nothing to close"}
	closeSum     = phrase{"  %s: contratado %s kg, entregue %s kg, valor fixado %s", "  %s: contracted %s kg, delivered %s kg, fixed value %s"}
	closeBefore  = phrase{"Atenção: este mês já foi fechado em %s por %s: %s. Os dois ficam guardados; vale o mais novo.", "Note: this month was closed before, at %s by %s: %s. Both are kept; the newest counts."}
	closeOpenIn  = phrase{"  %d %s: `safrasync rows --state %s`", "  %d %s: `safrasync rows --state %s`"}
	closeUneven  = phrase{"%s: a soma não fecha (diferença %d). Nada foi fechado. Rode `safrasync doctor` e avise a TI.", "%s: the sum does not close (difference %d). Nothing was closed. Run `safrasync doctor` and tell IT."}
	closeNoSweep = phrase{"Atenção: %s não teve varredura completa, que provaria a soma: rode antes `safrasync sync %s --sweep`.", "Note: %s has had no complete sweep, which would prove the sum: run `safrasync sync %s --sweep` first."}
	closeOpen    = phrase{"Atenção: %d linha(s) ainda por resolver entram assim no fechamento.", "Note: %d row(s) that are still open go into the closing as they are."}
	closeDone    = phrase{"Fechado: %s, fechamento %s. `safrasync report --as-of %s` o imprime de novo, com os mesmos números.", "Closed: %s, closing %s. `safrasync report --as-of %s` prints it again, with the same numbers."}
	closeWhole   = phrase{"--close fecha o relatório inteiro: sem filtros, seções, --as-of, --failed nem --output", "--close closes the whole report: without filters, sections, --as-of, --failed or --output"}
	closeNone    = phrase{"Nenhum fechamento.", "Nothing was closed."}

	closeHeadDay    = phrase{"Data-base", "Cut-off"}
	closeHeadAt     = phrase{"Posição de", "As of"}
	closeHeadWho    = phrase{"Quem", "Who"}
	closeHeadReason = phrase{"Motivo", "Reason"}
	closeHeadRows   = phrase{"Linhas", "Rows"}
	closeHeadID     = phrase{"Fechamento", "Closing"}

	helpDecisions       = phrase{"decisões de muitas linhas, preenchidas em uma planilha", "decisions about many rows, filled in in a spreadsheet"}
	helpDecisionsImport = phrase{"mostra e aplica o que foi decidido em um arquivo de `report --failed`; nada que possa duplicar", "show and do what was decided in a file of `report --failed`; nothing that may double"}

	decisionsFile        = phrase{"%s: %v", "%s: %v"}
	decisionsGroup       = phrase{"%s em %s: %d linha(s); motivo: %s", "%s in %s: %d row(s); reason: %s"}
	decisionsCell        = phrase{"linha %d, coluna %s: %s", "line %d, column %s: %s"}
	decisionsLine        = phrase{"linha %d: %s", "line %d: %s"}
	decisionsStale       = phrase{"a linha mudou depois que o arquivo foi feito; exporte de novo", "the row has moved since the file was made; export again"}
	decisionsOneByOne    = phrase{"não se decide em lote, porque poderia duplicar ou esconder um registro: use `safrasync %s` para esta linha", "is not decided in bulk, because it could double or hide a record: use `safrasync %s` for this row"}
	decisionsNothingDone = phrase{"%d linha(s) com problema: nada foi feito. Corrija o arquivo, ou use --skip-refused para fazer as outras.", "%d row(s) are wrong: nothing was done. Correct the file, or use --skip-refused to do the others."}
)
