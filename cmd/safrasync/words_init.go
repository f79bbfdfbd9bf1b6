package main

// What init says, and what it writes into the file as comments.
var (
	helpInit = phrase{"escreve uma primeira configuração a partir do catálogo do ERP; só lê o ERP", "write a first configuration from the ERP's catalogue; only reads the ERP"}

	initAskDriver       = phrase{"Banco de dados do ERP (%s):", "The ERP's database (%s):"}
	initAskDSN          = phrase{"Como conectar (arquivo, endereço ou ${env:NOME}):", "How to connect (file, address or ${env:NAME}):"}
	initAskContracts    = phrase{"Tabela, visão ou SELECT dos contratos (vazio: nenhum):", "Table, view or SELECT of the contracts (empty: none):"}
	initAskDeliveries   = phrase{"Tabela, visão ou SELECT das entregas (vazio: nenhum):", "Table, view or SELECT of the deliveries (empty: none):"}
	initAskTraceability = phrase{"Tabela, visão ou SELECT da rastreabilidade (vazio: nenhum):", "Table, view or SELECT of the traceability (empty: none):"}

	initSeen = phrase{
		"atenção: a senha em --dsn aparece na lista de processos e no histórico do shell; da próxima vez ponha o DSN em %s (chmod 600) e use --dsn '${file:credentials/erp-dsn}'. Se outros usam esta máquina, troque a senha",
		"note: the password in --dsn shows in the list of processes and in the history of the shell; next time put the DSN into %s (chmod 600) and use --dsn '${file:credentials/erp-dsn}'. If other people use this host, change the password",
	}
	initSecret      = phrase{"O DSN com a senha está em %s (modo 0600); a configuração só o cita. O usuário do serviço precisa poder lê-lo.", "The DSN with its password is in %s (mode 0600); the configuration only names it. The service's user has to be able to read it."}
	initSecretOther = phrase{"%s já existe com outro conteúdo e fica como está: ponha o DSN em SAFRASYNC_ERP_DSN, que a configuração cita.", "%s exists with another content and stays as it is: put the DSN into SAFRASYNC_ERP_DSN, which the configuration names."}

	initCharset   = phrase{"o banco (%s) não sabe em que codificação estão os textos; WIN1252 é a mais comum: confira os acentos", "the database (%s) does not know how its texts are encoded; WIN1252 is the commonest: look at the accents"}
	initFloat     = phrase{"a coluna é de ponto flutuante: os últimos algarismos são ruído; confira quantas casas o ERP usa", "the column holds floats, whose last digits are noise: see how many the ERP uses"}
	initExists    = phrase{"%s já existe e não é sobrescrito; use --force, ou --config OUTRO", "%s exists and is not overwritten; use --force, or --config OTHER"}
	initNeeds     = phrase{"falta %s; sem terminal, tudo vem por opções", "%s is missing; without a terminal everything comes by flags"}
	initBadDSN    = phrase{"--dsn %v", "--dsn %v"}
	initNoJob     = phrase{"nenhuma tabela foi indicada: use --contracts TABELA (ou um SELECT); `safrasync init --list` mostra as tabelas", "no table was named: use --contracts TABLE (or a SELECT); `safrasync init --list` shows the tables"}
	initNoTable   = phrase{"não existe tabela nem visão %q que este usuário possa ler; seria %s? `safrasync init --list` mostra todas", "there is no table or view %q that this user may read; did you mean %s? `safrasync init --list` shows all"}
	initAmbiguous = phrase{"%q existe em mais de um esquema: escreva %s ou %s", "%q exists in more than one schema: write %s or %s"}
	initReading   = phrase{"%s: lendo uma amostra do ERP…", "%s: reading a sample of the ERP…"}
	initTable     = phrase{"tabela", "table"}
	initView      = phrase{"visão", "view"}
	initAbout     = phrase{", cerca de %d linhas", ", about %d rows"}

	initWritten  = phrase{"%s gravado. Falta preencher ou decidir:", "%s written. Still to be filled in or decided:"}
	initOpenLine = phrase{"  %s:%d  %s: %s", "  %s:%d  %s: %s"}
	initOpen     = phrase{"a preencher", "to be filled in"}
	initNext     = phrase{
		`Depois, nesta ordem (nenhum destes envia nada):
  safrasync --config %[1]s state new        começa o registro local, uma só vez
  safrasync --config %[1]s check            a configuração, o ERP, a chave
  safrasync explain contracts            as regras, quais linhas não as cumprem, e os códigos sem de-para
  safrasync refs import TIPO ARQUIVO     os ids desses códigos, quando não estão no ERP
  safrasync test --from contracts CHAVE  um caso de mapeamento de uma linha que você conhece
  safrasync sync --dry-run               o que seria enviado`,
		`Then, in this order (none of these sends anything):
  safrasync --config %[1]s state new        begins the ledger, once
  safrasync --config %[1]s check            the configuration, the ERP, the key
  safrasync explain contracts            the rules, which rows break them, and the codes without a de-para
  safrasync refs import KIND FILE        the ids of those codes, where the ERP does not have them
  safrasync test --from contracts KEY    a mapping case of a row that you know
  safrasync sync --dry-run               what would be sent`,
	}

	initHead = phrase{
		`Proposta de safrasync init, feita do catálogo do ERP e de uma amostra das linhas. Confira cada linha com quem conhece o ERP.
Onde está escrito %s só uma pessoa sabe: a configuração não é aceita até que se preencha.
config.example.yaml explica todas as chaves; docs/mapping.md, o caminho até aqui e adiante.`,
		`Proposed by safrasync init from the ERP's catalogue and a sample of its rows. Check every line with somebody who knows the ERP.
Where it says %s only a person can know: the configuration is not accepted until it is filled in.
config.example.yaml explains every key; docs/mapping.md the way to this file and beyond.`,
	}
	initBaseURL    = phrase{"o endereço da plataforma, https://…", "the platform's address, https://…"}
	initDSN        = phrase{"com um usuário que só possa ler", "with a user that may only read"}
	initState      = phrase{"O registro do que foi enviado: em disco local, com cópia de segurança.", "The ledger of what was sent: on a local disk, with a backup."}
	initReferences = phrase{"De-para achado no ERP: lido no início de cada execução. O que não está aqui: safrasync refs import TIPO ARQUIVO.", "De-para found in the ERP: read at the start of each run. What is not here: safrasync refs import KIND FILE."}
	initValues     = phrase{"Valores do ERP e da API. Uma linha apagada, ou deixada fora, é erro das linhas que têm o valor; com %s a configuração não é aceita.", "Values of the ERP and of the API. A line that is deleted is an error of the rows that have the value; with %s the configuration is not accepted."}

	initValueRows    = phrase{"linhas: %d", "rows: %d"}
	initValueLikely  = phrase{"; CONFIRA", "; CHECK"}
	initValueUnknown = phrase{"; preencha, ou apague a linha", "; fill in, or delete the line"}
	initMapOpen      = phrase{"%d valores a preencher na tabela", "%d values to fill in in the map"}
	initManyValues   = phrase{"mais de %d valores diferentes: talvez não seja esta coluna, ou a tabela venha de outra tabela (JOIN)", "more than %d different values: perhaps another column, or a code table (JOIN)"}

	initKeyUnique    = phrase{"índice único", "unique index"}
	initKeyToday     = phrase{"hoje nenhuma linha se repete, mas o banco não garante: confira", "no two rows are alike today, but the database does not guarantee it: check"}
	initKeyPrimary   = phrase{"chave primária", "primary key"}
	initKeyNotUnique = phrase{"chave primária; o que as pessoas conhecem (%s) se repete ou falta em algumas linhas", "primary key; what people know (%s) stands twice or is missing in some rows"}
	initKeyNone      = phrase{"as colunas que identificam uma linha para sempre; números costumam repetir-se entre filiais", "the columns that identify a row for ever; numbers often repeat across branches"}

	initQueryOwn        = phrase{"A consulta como foi dada. O que ela deixa de fora não existe para o safrasync.", "The query as it was given. What it leaves out does not exist for safrasync."}
	initQueryConditions = phrase{"A consulta como foi dada; considere acrescentar: %s", "The query as it was given; consider adding: %s"}
	initQueryCutOver    = phrase{"Data de corte (%s): contratos anteriores não são enviados; sem ela, todo o histórico iria. Canceladas ficam na consulta; o tipo (só compras?) também se filtra aqui.", "Cut-over date (%s): earlier contracts are not sent; without it all of history would go. Cancelled rows stay in the query; the kind (purchases only?) is filtered here too."}
	initQueryAllTime    = phrase{"ATENÇÃO: sem data de corte, todo o histórico seria enviado: acrescente uma condição.", "MIND: without a cut-over date all of history would be sent: add a condition."}
	initConfirmFilter   = phrase{"não vão as linhas que não cumprem %s: confira, e apague esta linha", "rows that do not meet %s are left out: check that, and delete this line"}
	initConfirmFlag     = phrase{"a coluna %s parece dizer quais linhas valem, e nada a usa: acrescente a condição, ou apague esta linha", "the column %s seems to say which rows count, and nothing uses it: add the condition, or delete this line"}
	initConfirmSchema   = phrase{"este de-para é de outro esquema (%s): confira, e apague este comentário", "this de-para is of another schema (%s): check that, and delete this comment"}
	initOfTheHeader     = phrase{"%s é igual em todas as linhas de um mesmo número: é o total do documento, e cada linha o enviaria inteiro", "%s is the same in all rows of one number: it is the document's total, and each row would send it whole"}
	initUnused          = phrase{"colunas que não são lidas: %s", "columns that are not read: %s"}
	initNoChangedAt     = phrase{"sem coluna da última alteração, cada execução compara todas as linhas", "without a column of the last change every run compares all rows"}
	initNoCancelled     = phrase{"se o ERP marca as canceladas", "if the ERP marks cancelled rows"}

	initNotFound         = phrase{"coluna não encontrada; exigido em toda linha", "no column found; required of every row"}
	initNotFoundConst    = phrase{"coluna não encontrada; {column: COLUNA}, ou const se for sempre o mesmo: %s", "no column found; {column: COLUMN}, or const if it is always the same: %s"}
	initNotFoundWhen     = phrase{"coluna não encontrada; exigido quando %s", "no column found; required when %s"}
	initNotFoundOptional = phrase{"coluna não encontrada; opcional", "no column found; optional"}
	initColumnEmpty      = phrase{"vazia em toda a amostra: é esta?", "empty in the whole sample: is it this one?"}
	initNoReference      = phrase{"de-para: safrasync refs import %s ARQUIVO", "de-para: safrasync refs import %s FILE"}
	initCodePart         = phrase{"falta a coluna que corresponde a %s do de-para", "the column for the de-para's %s is missing"}
	initNoParent         = phrase{"as colunas com a chave do contrato", "the columns with the contract's key"}
	initParentOpen       = phrase{"as colunas com a chave do contrato, na ordem de %s", "the columns with the contract's key, in the order of %s"}
)
