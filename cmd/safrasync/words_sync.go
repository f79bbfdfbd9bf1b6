package main

import "github.com/safrasync/safrasync/trade"

// What sync and status say.
var (
	progressReads = phrase{"%s: lendo o ERP, %d linhas até agora", "%s: reading the ERP, %d rows so far"}
	progressSends = phrase{"%s: enviando, %d de %d", "%s: sending, %d of %d"}
	progressRests = phrase{"%s: em pausa até %s", "%s: resting until %s"}
	barReads      = phrase{"%s: lendo o ERP", "%s: reading the ERP"}
	barSends      = phrase{"%s: enviando", "%s: sending"}

	syncDry      = phrase{"Ensaio (--dry-run): nada foi enviado e nada foi gravado. Os estados abaixo são como ficariam.", "Dry run: nothing was sent and nothing was stored. The states below are as they would be."}
	syncCounts   = phrase{"%s: %d lidas, %d novas, %d alteradas, %d sem mudança; envios: %d%s", "%s: %d read, %d new, %d changed, %d unchanged; sent: %d%s"}
	helpSyncLong = phrase{
		"Lê o ERP e envia o que estiver pronto, agora. Sem argumentos, todos os jobs; com nomes, esses; com um job e chaves, só essas linhas são enviadas.\n" +
			"Com --limit N, no máximo N linhas de cada job. A leitura é sempre completa: o que não é enviado fica pendente, e vai na próxima execução, também do serviço.\n" +
			"Uma linha espera por aquela de que depende (a entrega, pelo seu contrato), como sempre.\n\n" +
			"  safrasync sync contracts '01|000123'   primeiro um contrato; confira-o na plataforma\n" +
			"  safrasync sync contracts --limit 10    depois dez\n  safrasync sync                         depois tudo",
		"Reads the ERP and sends what is ready, now. Without arguments all jobs; with names, those; with one job and keys, only those rows are sent.\n" +
			"With --limit N, at most N rows of each job. The reading is complete as ever: what is not sent stays pending, and goes with the next run, also of the service.\n" +
			"A row waits for what it hangs on (a delivery for its contract), as ever.\n\n" +
			"  safrasync sync contracts '01|000123'   one contract first; look at it on the platform\n" +
			"  safrasync sync contracts --limit 10    then ten\n  safrasync sync                         then all",
	}
	syncLimitLow = phrase{"--limit precisa de um número a partir de 1", "--limit needs a number from 1"}
	syncDryPart  = phrase{"--dry-run mostra tudo o que seria enviado: não vale com chaves nem --limit; uma só linha: `safrasync preview JOB KEY`", "--dry-run shows all that would be sent: it does not go with keys or --limit; for one row: `safrasync preview JOB KEY`"}
	syncNoKey    = phrase{"%s %s: não foi lida do ERP; `safrasync why %s '%s'` diz por quê", "%s %s: was not read from the ERP; `safrasync why %s '%s'` says why"}
	syncRow      = phrase{"%s %s: %s – %s", "%s %s: %s – %s"}
	syncLeft     = phrase{"%d linha(s) continuam pendentes: vão na próxima execução, também do serviço", "%d row(s) stay pending: they go with the next run, also of the service"}

	syncRequests   = phrase{", em %d pedidos", ", in %d requests"}
	syncSweep      = phrase{"  varredura completa: %d no escopo do ERP, %d não estão mais lá", "  complete sweep: %d in scope in the ERP, %d no longer there"}
	syncUnreadable = phrase{"  sem chave utilizável: %d linha(s), que não contam acima; corrija o ERP", "  without a usable key: %d row(s), which do not count above; correct the ERP"}
	syncCause      = phrase{"  %d × %s [%s]\n      %s: %s\n      linhas: %s%s", "  %d × %s [%s]\n      %s: %s\n      rows: %s%s"}
	syncDryCounts  = phrase{"%s: %d lidas, %d novas, %d alteradas, %d sem mudança%s", "%s: %d read, %d new, %d changed, %d unchanged%s"}
	syncWould      = phrase{"  seriam enviadas: %d linha(s)", "  would be sent: %d row(s)"}
	syncFollow     = phrase{", e na mesma execução mais %d que só esperam por linhas assim", ", and in the same run %d more that wait for such rows alone"}

	syncMorePlanned = phrase{"  … e mais %d motivos: `safrasync explain %s --rows` mostra todas as linhas", "  … and %d more causes: `safrasync explain %s --rows` shows all rows"}
	syncMoreCauses  = phrase{"  … e mais %d motivos: `safrasync rows %s` mostra todas as linhas", "  … and %d more causes: `safrasync rows %s` shows all rows"}
	syncNote        = phrase{"  nota para a TI: %s", "  note for IT: %s"}
	syncHours       = phrase{"  %s: fora do horário de envio; as linhas prontas saem a partir de %s (`--any-hour` envia já)", "  %s: outside its hours; the rows that are due go from %s on (`--any-hour` sends now)"}
	syncStopped     = phrase{"  %s PAROU: %s", "  %s STOPPED: %s"}

	statusJob         = phrase{"%s: %s%s%s", "%s: %s%s%s"}
	statusSince       = phrase{" desde %s", " since %s"}
	statusGone        = phrase{"  não está mais na configuração", "  no longer in the configuration"}
	statusStop        = phrase{"  motivo: %s", "  reason: %s"}
	statusNeverRan    = phrase{"  nunca executado", "  never ran"}
	statusRunOpen     = phrase{"  execução iniciada em %s, ainda sem fim; se o processo morreu, a próxima a recupera", "  run begun at %s, without an end yet; if its process died, the next run recovers it"}
	statusServedStill = phrase{
		"`safrasync run` ainda trabalha (processo %s), no arquivo que abriu ao iniciar: pare-o antes de tudo (`systemctl stop safrasync`); o que ele envia fica também no diário",
		"`safrasync run` still works (process %s), on the file that it opened at its start: stop it before anything else (`systemctl stop safrasync`); what it sends stands in the journal too",
	}
	statusLastRun = phrase{"  última execução: %s (%s): %d lidas, %d novas, %d alteradas, %d envios", "  last run: %s (%s): %d read, %d new, %d changed, %d sent"}
	statusNextRun = phrase{"  próximas execuções do serviço: %s  (%s)", "  next runs of the service: %s  (%s)"}
	statusSwept   = phrase{"  última varredura completa: %s", "  last complete sweep: %s"}
	statusNoRows  = phrase{"  nenhuma linha registrada", "  no rows recorded"}

	statusService      = phrase{"serviço (safrasync run): em execução desde %s, versão %s, processo %d em %s", "service (safrasync run): serving since %s, version %s, process %d on %s"}
	statusServiceLost  = phrase{"serviço (safrasync run): o processo %d em %s não existe mais, ou não responde; visto por último em %s", "service (safrasync run): process %d on %s is gone, or silent; last seen %s"}
	statusInstance     = phrase{"instância em %s (safrasync %s, processo %d): viva, versão %s, desde %s%s", "instance on %s (safrasync %s, process %d): alive, version %s, since %s%s"}
	statusInstanceLost = phrase{"instância em %s (safrasync %s, processo %d): sem sinal de vida desde %s%s; o que ela enviava fica em dúvida e outra assume os jobs", "instance on %s (safrasync %s, process %d): no sign of life since %s%s; what it was sending is in doubt, and another takes its jobs over"}
	statusHolds        = phrase{", conduz %s", ", holds %s"}
	statusNoService    = phrase{"serviço (safrasync run): não está em execução; nada roda sozinho até que seja iniciado", "service (safrasync run): not running; nothing runs by itself until it is started"}

	cronRun         = phrase{"execução", "run"}
	cronSweep       = phrase{"varredura", "sweep"}
	cronLine        = phrase{"%s, %s: %s (%s)\n    %s  (%s)", "%s, %s: %s (%s)\n    %s  (%s)"}
	cronIn          = phrase{", no fuso %s", ", in the zone %s"}
	cronEvery       = phrase{"a cada %s, a contar da última execução", "every %s, counted from the last run"}
	cronMinutes     = phrase{"a cada %s minutos", "every %s minutes"}
	cronSomeMinutes = phrase{"a cada %s minutos, das %sh às %sh59", "every %s minutes, from %s:00 to %s:59"}
	cronHourly      = phrase{"toda hora, no minuto %s", "every hour, at minute %s"}
	cronDaily       = phrase{"todo dia às %s:%s", "every day at %s:%s"}
	cronAsWritten   = phrase{"minuto, hora, dia, mês, dia da semana", "minute, hour, day, month, weekday"}

	syncLate = phrase{
		"  só a varredura achou %d linha(s) nova(s) ou alterada(s); a mais atrasada, %s depois da data de alteração que ela traz: aumente lookback, ou tire changed_at se a coluna não for confiável (%s%s)",
		"  the sweep alone found %d new or changed row(s); the latest came %s after the time of change that it carries: widen lookback, or leave changed_at out if the column cannot be trusted (%s%s)",
	}
	lateDays  = phrase{"%d dia(s)", "%d day(s)"}
	lateHours = phrase{"%d hora(s)", "%d hour(s)"}
	lateOther = phrase{"%d minuto(s)", "%d minute(s)"}

	stopUntil = phrase{"; nova tentativa em %s", "; tried again at %s"}
)

var jobStateWords = map[trade.JobState]phrase{
	trade.Idle:       {"em repouso", "idle"},
	trade.Running:    {"em execução", "running"},
	trade.BackingOff: {"aguardando para tentar de novo", "backing off"},
	trade.Stopped:    {"parado", "stopped"},
	trade.Paused:     {"pausado", "paused"},
}

var outcomeWords = map[string]phrase{
	"open":        {"em andamento", "on its way"},
	"created":     {"criado na plataforma", "created on the platform"},
	"not_created": {"recusado, nada foi criado", "refused, nothing was created"},
	"not_sent":    {"não saiu desta máquina", "did not leave this host"},
	"unknown":     {"sem resposta certa", "without a certain answer"},
}

// stopWords say in Portuguese what the engine says in English when a job stops, by the code of the stop.
var stopWords = map[string]phrase{
	"api_key":           {"a API recusou a chave: renove api.api_key e rode `safrasync check`", "the API refused the key"},
	"api_key_inside":    {"o gateway aceitou a chave, mas um serviço interno da plataforma a recusou: fale com o suporte da plataforma", "a service behind the API's gateway refused the key"},
	"api_module":        {"a cooperativa não contratou o módulo de que este job precisa: fale com a plataforma", "the module is not contracted"},
	"api_permission":    {"a chave não tem permissão: fale com a plataforma", "the key has no permission"},
	"api_address":       {"o endereço da API (api.base_url) ou um proxy está errado", "the API's address or a proxy is wrong"},
	"api_certificate":   {"o certificado da API não é aceito: veja api.ca_file e o relógio da máquina", "the API's certificate is not accepted"},
	"api_unreachable":   {"a API não responde; nada se perdeu e a próxima execução tenta de novo", "the API is not reached"},
	"api_throttled":     {"a API pediu para esperar; a próxima execução continua", "the API asks to wait"},
	"ledger":            {"o registro local não pode ser usado: veja espaço em disco e permissões", "the ledger cannot be used"},
	"erp":               {"o ERP não pôde ser lido: rode `safrasync check`", "the ERP cannot be read"},
	"columns":           {"falta na consulta uma coluna que o mapeamento usa: rode `safrasync check`", "a column is missing"},
	"references":        {"o de-para lido do ERP ficou vazio, ou tem um código com dois ids; nada foi alterado nem enviado: confira a tabela e a consulta em references", "the references of the ERP cannot be used"},
	"empty_sweep":       {"a varredura achou menos da metade das linhas conhecidas; nada foi dado como sumido: confira a visão e as permissões no ERP", "the sweep found too few rows"},
	"in_doubt":          {"várias respostas seguidas sem certeza: confira os envios na plataforma antes de continuar", "several unknown outcomes in a row"},
	"refusals":          {"a plataforma recusou muitas linhas seguidas pelo mesmo motivo: veja uma delas com `safrasync rows show` e corrija o mapeamento ou o ERP", "many rows in a row refused for the same reason"},
	"malformed":         {"a API não entendeu vários pedidos seguidos: confira o mapeamento com `safrasync preview`", "several malformed requests in a row"},
	"answers":           {"as respostas não são da API: algo entre esta máquina e a plataforma responde no lugar dela", "the answers are not the API's"},
	"uneven":            {"as somas não fecham: guarde uma cópia do registro local e avise o suporte do safrasync; `safrasync doctor --recount` corrige as somas", "the sums do not add up"},
	"platform":          {"este registro local já enviou para outro endereço da plataforma, e nada é enviado para api.base_url: para outra plataforma use um registro local novo (`safrasync state new`), para a mesma que mudou de endereço rode `safrasync state rebind --reason TEXTO`", "the ledger has sent to another platform"},
	"lease":             {"outro processo assumiu este job", "another process has taken the job over"},
	"paused":            {"o job está pausado; `safrasync resume` o retoma", "the job is paused"},
	"brake_new_rows":    {"muito mais linhas novas do que o normal: confira no ERP e rode `safrasync release`", "far more new rows than usual"},
	"brake_most":        {"mais do que uma execução pode enviar sem liberação: confira no ERP e rode `safrasync release`", "more than one run may send without a release"},
	"brake_canary":      {"as primeiras linhas com o novo mapeamento foram; confira na plataforma e rode `safrasync release`", "the first rows went with the new mapping"},
	"brake_retyped":     {"linhas novas com o conteúdo de linhas já enviadas cuja chave sumiu do ERP: confira e rode `safrasync release`", "new rows with the content of sent ones whose keys are gone"},
	"brake_changed_key": {"a chave ou as tabelas da consulta mudaram, e linhas conhecidas pareceriam novas: confira a configuração", "the key or the tables of the query changed"},
	"brake_new_job":     {"o job é novo, e o estado tem linhas enviadas por jobs que saíram da configuração, ou o seu identity mudou: `safrasync status` mostra; `safrasync job move` ou `safrasync release`", "the job is new, and the ledger has rows of jobs that are gone, or its identity changed"},
	"process_gone":      {"o processo que executava o job não existe mais; a próxima execução descobre o que foi feito das linhas que estavam a caminho, e continua", "the process is gone"},
	"interrupted":       {"interrompido; o que estava a caminho foi aguardado e o resto segue na próxima execução", "interrupted"},
}
