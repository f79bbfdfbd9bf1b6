package main

// What the daemon says to the service manager.
var (
	helpRun = phrase{"o serviço: executa os jobs nos seus horários, até que o encerrem", "the service: runs the jobs on their schedules, until it is ended"}

	checkLedgerElsewhere = phrase{"está em um PostgreSQL; com --offline não é aberto", "is on a PostgreSQL; --offline does not open it"}
	checkLedgerOlder     = phrase{"é de uma versão anterior; o início do serviço o atualiza", "is of an older version; the start of the service brings it up to date"}

	runRefused    = phrase{"não começou: %s", "did not start: %s"}
	runStopping   = phrase{"encerrando: aguarda as respostas do que já saiu", "stopping: waiting for the answers to what has left"}
	runKeepsOld   = phrase{"a nova configuração está errada e a antiga continua em vigor: %s", "the new configuration is wrong and the old one stays in force: %s"}
	runERPDown    = phrase{"ERP: %s", "ERP: %s"}
	runAPIDown    = phrase{"API: %s", "API: %s"}
	runLedgerDown = phrase{"o registro local não responde: %s", "the ledger does not answer: %s"}
	runIdle       = phrase{"em serviço, %d job(s); o próximo é %s, em %s", "serving %d job(s); the next is %s, at %s"}
	runBusy       = phrase{"em execução: %s", "running: %s"}
)
