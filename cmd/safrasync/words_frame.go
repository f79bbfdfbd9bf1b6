package main

// What the program says about itself: help, wrong calls, errors.
var (
	helpRoot     = phrase{"leva contratos, entregas e rastreabilidade do ERP à plataforma, sem perder nem repetir nada", "brings contracts, deliveries and traceability from the ERP to the platform, losing and repeating nothing"}
	helpRootLong = phrase{
		`safrasync lê do ERP os contratos, as entregas (romaneios) e a rastreabilidade, novos e alterados, envia cada linha à plataforma no máximo uma vez e
diz o que sabe de cada uma. Uma entrega ou linha de rastreabilidade espera até que o seu contrato esteja na plataforma.

Códigos de saída:
   0  feito; pode haver linhas que precisam de atenção, e o resumo diz quais
   1  falhou: um job parou, algo não foi alcançado, uma verificação não passou
   2  uso incorreto, ou um ato que só foi planejado porque ninguém o confirmou
   3  com --strict: feito, mas há linhas que precisam de atenção
  75  outro processo está executando este job
  78  configuração errada`,
		`safrasync reads new and changed contracts, deliveries and traceability rows from the ERP, sends each one to the platform at most once, and says
what it knows of each. A delivery or traceability row waits until its contract is on the platform.

Exit codes:
   0  done; rows may need attention, and the summary says which
   1  failed: a job stopped, something was not reached, a check did not pass
   2  wrong usage, or an act that was only planned because nobody confirmed it
   3  with --strict: done, but rows need attention
  75  another process runs this job
  78  wrong configuration`,
	}
	helpSync       = phrase{"lê o ERP e envia o que estiver pronto, agora", "read the ERP and send what is ready, now"}
	helpCheck      = phrase{"confere configuração, ERP, registro local, chave da API e relógio, sem enviar nada", "check configuration, ERP, ledger, API key and clock; sends nothing"}
	helpStatus     = phrase{"jobs, últimas e próximas execuções, quantas linhas em cada estado", "jobs, last and next runs, rows by state"}
	helpRows       = phrase{"lista as linhas e por que estão como estão", "list the rows and why they are as they are"}
	helpRowsShow   = phrase{"tudo sobre uma linha", "everything about one row"}
	helpWhy        = phrase{"por que uma linha foi ou não foi enviada", "why a row was or was not sent"}
	helpPreview    = phrase{"o pedido que sairia, com a origem de cada campo; não envia", "the request that would go out, with each field's origin; sends nothing"}
	helpRefs       = phrase{"as tabelas de-para: códigos do ERP e ids da plataforma", "the de-para tables: codes of the ERP and ids of the platform"}
	helpRefsList   = phrase{"lista o de-para; primeiro o que falta", "list the de-para; first what is missing"}
	helpRefsImport = phrase{"importa um CSV com o cabeçalho code,id; tudo ou nada", "import a CSV with the header code,id; all or nothing"}
	helpRefsExport = phrase{
		"escreve o de-para como CSV; o que uma planilha tomaria por fórmula leva um ' na frente, que refs import tira",
		"write the de-para as CSV; what a spreadsheet would take for a formula gets a ' before it, which refs import takes away",
	}
	helpRefsSet     = phrase{"grava um código", "store one code"}
	helpRefsRemove  = phrase{"remove um código", "remove one code"}
	helpSandbox     = phrase{"a API da plataforma em miniatura, nesta máquina, com falhas a pedido", "the platform's API in a box, on this host, with faults on demand"}
	helpSandboxLong = phrase{
		`Responde como o documento da API diz, só nesta máquina, e mostra em /_sandbox/ o que recebeu.

Uma falha (--faults, ou PUT /_sandbox/faults com uma por linha):

  [get:|change:|any:] [RECURSO:] AÇÃO {,OPÇÃO} [@FAIXA] [%PORCENTAGEM] [,body=TEXTO]

  AÇÃO   lost-after, lost-before, slow=5s, hang, cut, garbled, noid, status=503, module, throttle=2s, unavailable=2s, refused, redirect, html, …
  @3     o terceiro pedido; @3- do terceiro em diante; @3-5 do terceiro ao quinto. Contam todos os pedidos que a falha poderia atingir DESDE O INÍCIO
         do sandbox, os recusados e os de antes de a falha ser ligada também; GET /_sandbox/report diz em numbers até onde a contagem chegou
  %10    um em dez, sorteado pela semente (--seed)
  Sem prefixo atinge POSTs que criam; get: leituras, change: PUT e DELETE, any: todos. RECURSO: deliveries, traceability, webhooks, …

Todas as ações: go doc github.com/safrasync/safrasync/apiclient/sandbox; um ensaio passo a passo: docs/rehearsal.md`,
		`It answers as the API's document says, on this host only, and shows under /_sandbox/ what it received.

A fault (--faults, or PUT /_sandbox/faults with one a line):

  [get:|change:|any:] [RESOURCE:] ACTION {,OPTION} [@RANGE] [%PERCENT] [,body=TEXT]

  ACTION lost-after, lost-before, slow=5s, hang, cut, garbled, noid, status=503, module, throttle=2s, unavailable=2s, refused, redirect, html, …
  @3     the third request; @3- from the third on; @3-5 the third to the fifth. All requests count that the fault could act on SINCE THE START
         of the sandbox, refused ones and those before the fault was switched on included; GET /_sandbox/report says in numbers how far it counted
  %10    one in ten, drawn by the seed (--seed)
  Without a prefix it acts on POSTs that create; get: on reads, change: on PUT and DELETE, any: on all. RESOURCE: deliveries, traceability, webhooks, …

All actions: go doc github.com/safrasync/safrasync/apiclient/sandbox; a rehearsal step by step: docs/rehearsal.md`,
	}
	helpConfig     = phrase{"a configuração", "the configuration"}
	helpConfigShow = phrase{"a configuração em vigor, sem segredos", "the configuration in effect, without secrets"}
	helpCron       = phrase{"explica os horários e mostra os próximos", "explain the schedules and show the next times"}
	helpVersion    = phrase{"a versão do programa", "the version of the program"}
	helpTemplate   = phrase{
		helpTemplateIn("Uso", "COMANDO", "Comandos", "Opções", "Opções gerais", "Use \"{{.CommandPath}} COMANDO --help\" para saber mais de um comando."),
		helpTemplateIn("Usage", "COMMAND", "Commands", "Flags", "Global flags", "Use \"{{.CommandPath}} COMMAND --help\" for more about a command."),
	}

	saysError          = phrase{"erro: %v", "error: %v"}
	saysUsage          = phrase{"uso incorreto: %s", "wrong usage: %s"}
	saysLeased         = phrase{"outro processo está executando o job %s (pid %d em %s): espere que termine, ou encerre-o", "another process runs job %s (pid %d on %s): wait for it, or end it"}
	saysArguments      = phrase{"os argumentos são: %s", "the arguments are: %s"}
	saysNoCommand      = phrase{"não existe o comando %q; `%s --help` mostra os que existem", "there is no command %q; `%s --help` shows those that there are"}
	saysNoCommandBut   = phrase{"não existe o comando %q em %s; seria %s?", "there is no command %q in %s; did you mean %s?"}
	saysFlag           = phrase{"%s; veja `%s --help`", "%s; see `%s --help`"}
	saysNoFlag         = phrase{"não existe a opção %s", "there is no flag %s"}
	saysDashes         = phrase{" (um argumento que começa com - fica depois de --)", " (an argument that begins with - goes after --)"}
	saysFlagNeedsValue = phrase{"falta o valor da opção %s", "flag %s needs a value"}
	saysFlagValue      = phrase{"valor não aceito: %s", "value not accepted: %s"}
	saysKeyParts       = phrase{"a chave %q não serve: as do job %s têm a forma %s", "the key %q does not fit: those of job %s have the form %s"}
	saysNoJob          = phrase{"não existe o job %q; a configuração tem %s", "there is no job %q; the configuration has %s"}
)

func helpTemplateIn(usage, command, commands, flags, global, more string) string {
	return usage + `:{{if .Runnable}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} ` + command + `

` + commands + `:{{range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding }} {{.Short}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

` + flags + `:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableInheritedFlags}}

` + global + `:
{{.InheritedFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableSubCommands}}

` + more + `{{end}}
`
}
