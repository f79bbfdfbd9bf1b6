package main

import "github.com/safrasync/safrasync/trade"

// What the demo says.
var (
	helpDemo     = phrase{"mostra tudo com dados de exemplo: ERP, plataforma, envio e relatório", "show the whole thing on sample data: ERP, platform, sending and report"}
	helpDemoLong = phrase{
		`Cria um ERP de exemplo (SQLite) com algumas centenas de contratos de uma cooperativa imaginária, vários deles com problemas; inicia uma
plataforma de teste nesta máquina; envia os contratos, executa de novo (nada é enviado duas vezes), corrige alguns dados e executa
mais uma vez. Não usa a rede e não deixa nada no disco, a não ser com --dir.`,
		`Creates a sample ERP (SQLite) with some hundred contracts of an imaginary cooperative, several of them with problems; starts a
platform for tests on this host; sends the contracts, runs again (nothing is sent twice), corrects some data and runs once
more. It uses no network and leaves nothing on the disk, except with --dir.`,
	}
	saysDemoLang     = phrase{"não há o idioma %q; existem pt-BR e en", "there is no language %q; there are pt-BR and en"}
	saysDemoNotEmpty = phrase{"a pasta %s não está vazia; indique uma pasta nova, para que a demonstração não apague nada", "the folder %s is not empty; name a new one, so that the demo destroys nothing"}

	saysDemoPrepared = phrase{"ERP de exemplo criado (%d linhas); plataforma de teste em %s", "sample ERP created (%d rows); test platform at %s"}
	saysDemoFirst    = phrase{"1ª execução: tudo é novo", "run 1: everything is new"}
	saysDemoSecond   = phrase{"2ª execução: nada mudou no ERP", "run 2: nothing changed in the ERP"}
	saysDemoThird    = phrase{"3ª execução: alguém corrigiu o ERP", "run 3: somebody corrected the ERP"}

	demoTitle    = phrase{"O QUE ACONTECEU COM OS CONTRATOS", "WHAT BECAME OF THE CONTRACTS"}
	demoEquation = phrase{"%d contratos no ERP = %s.", "%d contracts in the ERP = %s."}
	demoTerms    = map[trade.State]struct{ one, many phrase }{
		trade.Accepted: {phrase{"1 enviado", "1 sent"}, phrase{"%d enviados", "%d sent"}},
		trade.Waiting:  {phrase{"1 aguardando", "1 waiting"}, phrase{"%d aguardando", "%d waiting"}},
		trade.Invalid:  {phrase{"1 com erro no ERP", "1 with errors"}, phrase{"%d com erro no ERP", "%d with errors"}},
		trade.Rejected: {phrase{"1 recusado", "1 refused"}, phrase{"%d recusados", "%d refused"}},
		trade.Held:     {phrase{"1 retido", "1 held"}, phrase{"%d retidos", "%d held"}},
		trade.InDoubt:  {phrase{"1 sem confirmação", "1 in doubt"}, phrase{"%d sem confirmação", "%d in doubt"}},
		trade.Pending:  {phrase{"1 pendente", "1 pending"}, phrase{"%d pendentes", "%d pending"}},
	}
	demoOutside  = phrase{"A tabela do ERP tem %d linhas; as outras %d não contam como contratos: %d em rascunho, %d canceladas antes do envio, %d sem número, %d com número repetido.", "The ERP's table has %d rows; the other %d do not count as contracts: %d drafts, %d cancelled before they were sent, %d without a number, %d with a number that stands twice."}
	demoRepeated = phrase{"A 2ª execução enviou %d: o que já foi não vai outra vez. A plataforma confirma: tem %d contratos, um para cada enviado.", "Run 2 sent %d: what has gone does not go again. The platform agrees: it has %d contracts, one for each that was sent."}
	demoTwins    = phrase{"Para conferir: %s tem o mesmo conteúdo de %s. Os dois foram enviados, porque são dois números no ERP; se foi digitação em dobro, corrija nos dois lados.", "To verify: %s has the same content as %s. Both were sent, because they are two numbers in the ERP; if it was typed twice, correct both sides."}

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

	demoCausesTitle = phrase{"O QUE NÃO FOI, POR QUÊ, E O QUE FAZER (%d contratos)", "WHAT DID NOT GO, WHY, AND WHAT TO DO (%d contracts)"}
	demoCausesHead  = []phrase{{"Contratos", "Contracts"}, {"Volume parado", "Volume blocked"}, {"Motivo, quem resolve e como", "Reason, who cures it, and how"}}
	demoWho         = phrase{"Quem resolve: %s.", "Who cures it: %s."}
	demoExample     = phrase{"Ex.: %s", "E.g. %s"}
	demoNoVolume    = phrase{"quantidade ou unidade inválida", "no valid amount or unit"}

	demoCureTitle  = phrase{"E SE ALGUÉM CORRIGIR?", "AND IF SOMEBODY CORRECTS IT?"}
	demoCureBefore = phrase{"Antes da 3ª execução, no ERP: o contrato %s ganhou a data de pagamento, o %s o preço, e a carteira %s o de-para.", "Before run 3, in the ERP: contract %s got its payday, %s its price, and wallet %s its de-para."}
	demoCureAfter  = phrase{"A 3ª execução enviou %d contratos, por si só: esses dois e os %d que esperavam pela carteira.", "Run 3 sent %d contracts, by itself: these two and the %d that waited for the wallet."}
	demoCureFlag   = phrase{"O contrato %s, já enviado, mudou de preço no ERP: não foi enviado de novo, e está marcado «%s».", "Contract %s, sent before, changed its price in the ERP: it was not sent again, and is marked \"%s\"."}
	demoCureProof  = phrase{"Plataforma: %d contratos = %d da 1ª execução + 0 da 2ª + %d da 3ª.", "Platform: %d contracts = %d of run 1 + 0 of run 2 + %d of run 3."}

	demoFurther = phrase{"PARA CONTINUAR", "TO GO ON"}
	demoKept    = phrase{"Tudo ficou em %s. Experimente:", "Everything is in %s. Try:"}
	demoGone    = phrase{"Nada ficou no disco. Para explorar com os outros comandos: safrasync demo --dir PASTA", "Nothing was left on the disk. To explore it with the other commands: safrasync demo --dir FOLDER"}
	demoSandbox = phrase{"Para enviar, a plataforma de teste precisa estar no ar (em outro terminal):", "To send, the test platform must be up (in another terminal):"}
)
