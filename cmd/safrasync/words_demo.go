package main

import "github.com/safrasync/safrasync/trade"

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

	saysDemoPrepared = phrase{
		"ERP de exemplo criado (%d contratos, %d linhas de romaneio, %d linhas de rateio); plataforma de teste em %s",
		"sample ERP created (%d contracts, %d lines of weighing tickets, %d shares); test platform at %s",
	}
	saysDemoFirst  = phrase{"1ª execução: tudo é novo", "run 1: everything is new"}
	saysDemoSecond = phrase{"2ª execução: nada mudou no ERP", "run 2: nothing changed in the ERP"}
	saysDemoThird  = phrase{"3ª execução: alguém corrigiu o ERP", "run 3: somebody corrected the ERP"}

	demoTitle    = phrase{"O QUE ACONTECEU COM CADA LINHA DO ERP", "WHAT BECAME OF EACH ROW OF THE ERP"}
	demoEquation = phrase{"%s no ERP = %s.", "%s in the ERP = %s."}
	demoCounts   = map[trade.Kind]struct{ one, many phrase }{
		trade.OrderCommitments: {phrase{"%d contrato", "%d contract"}, phrase{"%d contratos", "%d contracts"}},
		trade.Deliveries:       {phrase{"%d entrega", "%d delivery"}, phrase{"%d entregas", "%d deliveries"}},
		trade.Traceability:     {phrase{"%d linha de rastreabilidade", "%d traceability row"}, phrase{"%d linhas de rastreabilidade", "%d traceability rows"}},
	}
	demoAnd   = phrase{"%s e %s", "%s and %s"}
	demoTerms = map[trade.State]struct{ one, many phrase }{
		trade.Accepted: {phrase{"1 enviado", "1 sent"}, phrase{"%d enviados", "%d sent"}},
		trade.Waiting:  {phrase{"1 aguardando", "1 waiting"}, phrase{"%d aguardando", "%d waiting"}},
		trade.Invalid:  {phrase{"1 com erro no ERP", "1 with errors"}, phrase{"%d com erro no ERP", "%d with errors"}},
		trade.Rejected: {phrase{"1 recusado", "1 refused"}, phrase{"%d recusados", "%d refused"}},
		trade.Held:     {phrase{"1 retido", "1 held"}, phrase{"%d retidos", "%d held"}},
		trade.InDoubt:  {phrase{"1 sem confirmação", "1 in doubt"}, phrase{"%d sem confirmação", "%d in doubt"}},
		trade.Pending:  {phrase{"1 pendente", "1 pending"}, phrase{"%d pendentes", "%d pending"}},
	}
	demoTermsOfRows = map[trade.State]struct{ one, many phrase }{ // of deliveries and rows: feminine in Portuguese
		trade.Accepted: {phrase{"1 enviada", "1 sent"}, phrase{"%d enviadas", "%d sent"}},
		trade.Waiting:  {phrase{"1 aguardando", "1 waiting"}, phrase{"%d aguardando", "%d waiting"}},
		trade.Invalid:  {phrase{"1 com erro no ERP", "1 with errors"}, phrase{"%d com erro no ERP", "%d with errors"}},
		trade.Rejected: {phrase{"1 recusada", "1 refused"}, phrase{"%d recusadas", "%d refused"}},
		trade.Held:     {phrase{"1 retida", "1 held"}, phrase{"%d retidas", "%d held"}},
		trade.InDoubt:  {phrase{"1 sem confirmação", "1 in doubt"}, phrase{"%d sem confirmação", "%d in doubt"}},
	}
	demoOutside = phrase{
		"A tabela de contratos tem %d linhas; as outras %d não contam: %d em rascunho, %d canceladas antes do envio, %d sem número, %d com número repetido. Também não contam %d romaneios: %d em aberto, %d cancelado.",
		"The table of contracts has %d rows; the other %d do not count: %d drafts, %d cancelled before they were sent, %d without a number, %d with a number that stands twice. Nor do %d weighing tickets: %d open, %d cancelled.",
	}
	demoRepeated = phrase{
		"A 2ª execução enviou 0: o que já foi não vai outra vez. A plataforma confirma: tem %s, um registro para cada linha enviada.",
		"Run 2 sent 0: what has gone does not go again. The platform agrees: it has %s, one record for each row that was sent.",
	}
	demoLostAnswer = phrase{
		"Um deles é o contrato %s, cuja resposta se perdeu no caminho: daqui não se sabe se ele existe lá. Por isso não foi enviado outra vez, e sua entrega aguarda; uma pessoa confere na plataforma.",
		"One of them is contract %s, whose answer was lost on its way: from here nobody knows whether it is there. So it was not sent again, and its delivery waits; a person looks on the platform.",
	}
	demoTwins = phrase{
		"Para conferir: %s %s tem o mesmo conteúdo de %s. Os dois números foram enviados, porque estão os dois no ERP; se foi digitação em dobro, corrija nos dois lados.",
		"To verify: %s %s has the same content as %s. Both numbers were sent, because both are in the ERP; if it was typed twice, correct both sides.",
	}

	demoSentTitle = phrase{"O QUE FOI ENVIADO (produtos, unidades e moedas diferentes nunca são somados)", "WHAT WAS SENT (different products, units and currencies are never added)"}
	demoSentHead  = []phrase{
		{"Produto", "Product"},
		{"Un.", "Unit"},
		{"Moeda", "Currency"},
		{"Contratos", "Contracts"},
		{"Compra", "Purchase"},
		{"Fixação", "Fixation"},
		{"A fixar", "To be fixed"},
		{"Valor", "Value"},
	}
	demoNoCurrency = phrase{"sem preço", "no price"}

	demoChildrenHead = []phrase{
		{"Produto do contrato", "Contract of"},
		{"Un.", "Unit"},
		{"Entregas", "Deliveries"},
		{"Volume entregue", "Delivered volume"},
		{"Rastreab.", "Traceab."},
		{"Volume alocado", "Allocated volume"},
	}
	demoNoUnit = phrase{"sem volume", "no volume"}

	demoCausesTitle = phrase{"O QUE NÃO FOI, POR QUÊ, E O QUE FAZER", "WHAT DID NOT GO, WHY, AND WHAT TO DO"}
	demoCausesHead  = map[trade.Kind]phrase{
		trade.OrderCommitments: {"Contratos", "Contracts"}, trade.Deliveries: {"Entregas", "Deliveries"}, trade.Traceability: {"Rastreab.", "Traceab."},
	}
	demoCausesVolume = phrase{"Volume parado", "Volume blocked"}
	demoCausesReason = phrase{"Motivo, quem resolve e como", "Reason, who cures it, and how"}
	demoWho          = phrase{"Quem resolve: %s.", "Who cures it: %s."}
	demoExample      = phrase{"Ex.: %s", "E.g. %s"}
	demoNoVolume     = phrase{"quantidade ou unidade inválida", "no valid amount or unit"}
	demoNoProduct    = phrase{"sem produto", "no product"}

	demoCureTitle    = phrase{"E SE ALGUÉM CORRIGIR?", "AND IF SOMEBODY CORRECTS IT?"}
	demoCureBefore   = phrase{"Antes da 3ª execução, no ERP: o contrato %s ganhou a data de pagamento, o %s o preço, e a carteira %s o de-para.", "Before run 3, in the ERP: contract %s got its payday, %s its price, and wallet %s its de-para."}
	demoCureAfter    = phrase{"A 3ª execução enviou %d contratos, por si só: esses dois e os %d que esperavam pela carteira.", "Run 3 sent %d contracts, by itself: these two and the %d that waited for the wallet."}
	demoCureChildren = phrase{"Com eles foram, na mesma execução, %s e %s, que esperavam por um desses contratos.", "With them went, in the same run, %s and %s that waited for one of these contracts."}
	demoCureFlag     = phrase{
		"O contrato %s mudou de preço e a entrega %s passou para outro contrato, depois de enviados: não foram enviados de novo, e estão marcados «%s».",
		"Contract %s changed its price and delivery %s went to another contract after they were sent: they were not sent again, and are marked \"%s\".",
	}
	demoCureProof = phrase{"A plataforma tem agora %s:", "The platform now has %s:"}
	demoCureFirst = phrase{"  da 1ª execução %s, da 2ª nada,", "  of run 1 %s, of run 2 nothing,"}
	demoCureThird = phrase{"  da 3ª execução %s.", "  of run 3 %s."}

	demoFurther = phrase{"PARA CONTINUAR", "TO GO ON"}
	demoKept    = phrase{"Tudo ficou em %s. Experimente:", "Everything is in %s. Try:"}
	demoGone    = phrase{"Nada ficou no disco. Para explorar com os outros comandos: safrasync demo --dir PASTA", "Nothing was left on the disk. To explore it with the other commands: safrasync demo --dir FOLDER"}
	demoSandbox = phrase{"Para enviar, a plataforma de teste precisa estar no ar (em outro terminal):", "To send, the test platform must be up (in another terminal):"}
)
