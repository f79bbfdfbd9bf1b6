package main

// What the demo says.
var (
	helpDemo     = phrase{"mostra tudo com dados de exemplo: ERP, plataforma, envio e relatório", "show the whole thing on sample data: ERP, platform, sending and report"}
	helpDemoLong = phrase{
		`Cria um ERP de exemplo (SQLite) com algumas centenas de contratos, entregas e linhas de rastreabilidade de uma cooperativa imaginária, várias
delas com problemas; inicia uma plataforma de teste nesta máquina; envia o que está em ordem, executa de novo (nada é enviado duas vezes), corrige alguns dados e executa
mais uma vez. Não usa a rede e não deixa nada no disco, a não ser com --dir.`,
		`Creates a sample ERP (SQLite) with some hundred contracts, deliveries and traceability rows of an imaginary cooperative, several of them with
problems; starts a platform for tests on this host; sends what is in order, runs again (nothing is sent twice), corrects some data and runs once
more. It uses no network and leaves nothing on the disk, except with --dir.`,
	}
	saysDemoLang     = phrase{"não há o idioma %q; existem pt-BR e en", "there is no language %q; there are pt-BR and en"}
	saysDemoNotEmpty = phrase{"a pasta %s não está vazia; indique uma pasta nova, para que a demonstração não apague nada", "the folder %s is not empty; name a new one, so that the demo destroys nothing"}

	saysDemoPrepared = phrase{"ERP de exemplo criado; plataforma de teste em %s", "sample ERP created; test platform at %s"}
	saysDemoFirst    = phrase{"1ª execução: tudo é novo", "run 1: everything is new"}
	saysDemoSecond   = phrase{"2ª execução: nada mudou no ERP", "run 2: nothing changed in the ERP"}
	saysDemoThird    = phrase{"3ª execução: alguém corrigiu o ERP", "run 3: somebody corrected the ERP"}

	demoRepeated = phrase{
		"A 2ª execução enviou 0: o que já foi não vai outra vez. A plataforma confirma: tem %d contratos, %d entregas e %d linhas de rastreabilidade.",
		"Run 2 sent 0: what has gone does not go again. The platform agrees: it has %d contracts, %d deliveries and %d traceability rows.",
	}
	demoCorrected = phrase{
		"No ERP, dois contratos foram completados e uma carteira ganhou o de-para; a 3ª execução enviou por si só %d contratos, %d entregas e %d linha de rastreabilidade, que esperavam por isso. " +
			"O contrato 02|001001 mudou de preço e a entrega 03|50002|1 passou para outro contrato depois de enviados: não foram enviados de novo, e estão marcados.",
		"In the ERP two contracts were completed and a wallet got its de-para; run 3 sent by itself %d contracts, %d deliveries and %d traceability row that waited for it. " +
			"Contract 02|001001 changed its price and delivery 03|50002|1 went to another contract after they were sent: they were not sent again, and are flagged.",
	}

	demoKept    = phrase{"Tudo ficou em %s. Experimente:", "Everything is in %s. Try:"}
	demoGone    = phrase{"Nada ficou no disco. Para explorar com os outros comandos: safrasync demo --dir PASTA", "Nothing was left on the disk. To explore it with the other commands: safrasync demo --dir FOLDER"}
	demoSandbox = phrase{"Para enviar, a plataforma de teste precisa estar no ar (em outro terminal):", "To send, the test platform must be up (in another terminal):"}
)
