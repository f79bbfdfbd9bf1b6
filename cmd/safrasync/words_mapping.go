package main

import "github.com/safrasync/safrasync/trade"

// What test, explain, preview --diff and init say.
var (
	helpTest = phrase{"roda os casos de mapeamento: linha de entrada, pedido ou problemas de saída; sem ERP nem rede", "run the mapping cases: row in, payload or problems out; without ERP or network"}

	testFlagsClash    = phrase{"--update só vale com --record, e --from não vale com --record", "--update goes with --record only, and --from does not go with --record"}
	testNoCases       = phrase{"os casos em %s não podem ser lidos: %s; `safrasync test --from JOB CHAVE` cria um caso de uma linha do ERP", "the cases in %s cannot be read: %s; `safrasync test --from JOB KEY` makes a case from a row of the ERP"}
	testEmptyFolder   = phrase{"não há nenhum caso (*.yaml) em %s; `safrasync test --from JOB CHAVE` cria um caso de uma linha do ERP", "there is no case (*.yaml) in %s; `safrasync test --from JOB KEY` makes a case from a row of the ERP"}
	testNoExpectation = phrase{"o caso não diz o que se espera (payload, problems, waits_for ou cancelled); `safrasync test --record %s` preenche", "the case says nothing about what is expected (payload, problems, waits_for or cancelled); `safrasync test --record %s` fills it in"}
	testRecorded      = phrase{" (expectativa gravada: confira)", " (expectation recorded: look at it)"}
	testExpected      = phrase{"   (esperado)", "   (expected)"}
	testGot           = phrase{"   (obtido)", "   (got)"}
	testSummary       = phrase{"%d casos: %d certos, %d com falha; expectativas gravadas: %d", "%d cases: %d right, %d failed; expectations recorded: %d"}
	testFromComment   = phrase{"Da linha %s do ERP. Confira se o resultado abaixo está certo; troque o que for pessoal.", "From row %s of the ERP. Check that the result below is right; replace what is personal."}
	testNotWritable   = phrase{
		"%s não pode ser gravado por este usuário; dê um arquivo onde ele possa gravar: safrasync test --from %s '%s' /tmp/caso.yaml",
		"%s cannot be written by this user; give a file where the user may write: safrasync test --from %s '%s' /tmp/case.yaml",
	}
	testFileExists = phrase{"%s já existe e não é sobrescrito; dê outro nome de arquivo", "%s exists and is not overwritten; give another file name"}
	testWritten    = phrase{"%s gravado; confira o resultado que ele espera", "%s written; check the result that it expects"}

	helpExplain       = phrase{"as regras de um job em palavras, e quais linhas do ERP não as cumprem; não envia nada", "a job's rules in words, and which rows of the ERP break which; sends nothing"}
	explainFlagsClash = phrase{"--rows precisa do ERP: não vale com --offline", "--rows needs the ERP: it does not go with --offline"}
	explainTitle      = phrase{"Job %s: envia %s", "Job %s: sends %s"}
	explainKey        = phrase{"  cada linha é identificada por: %s", "  a row is identified by: %s"}
	explainIdentity   = phrase{"  as chaves são comparadas só com as dos jobs de identity: %s", "  its keys are compared only with those of jobs of identity: %s"}
	explainChangedAt  = phrase{"  o que mudou é achado pela coluna %s; a varredura completa acha o resto", "  what changed is found by column %s; the complete sweep finds the rest"}

	explainNoChangedAt = phrase{"  sem coluna de alteração: cada execução compara todas as linhas", "  no column of changes: every run compares all rows"}
	explainCancelled   = phrase{"  cancelada quando %s é: %s", "  cancelled when %s is: %s"}
	explainTwinHold    = phrase{"  duas linhas iguais: vai a primeira lida, a outra fica retida até alguém decidir (checks.twin: hold, %d dias)", "  two equal rows: the one read first goes, the other is held until somebody decides (checks.twin: hold, %d days)"}
	explainRowsTitle   = phrase{"Linhas que não seguem como estão, ou seguem com observação:", "Rows that do not go as they are, or go with a remark:"}
	explainRead        = phrase{"No ERP agora: %d linhas lidas; %d prontas, %d com erro, %d aguardando, %d canceladas, %d sem chave utilizável", "In the ERP now: %d rows read; %d ready, %d with errors, %d waiting, %d cancelled, %d without a usable key"}
	valueBlank         = phrase{"vazio × %d", "empty × %d"}
	explainDouble      = phrase{"! %d linhas com uma chave que aparece mais de uma vez (%d chaves): não seguem, quaisquer que sejam os dados", "! %d rows with a key that stands more than once (%d keys): they do not go, whatever their data"}
	explainBreach      = phrase{"%s %d × %s [%s: %s]", "%s %d × %s [%s: %s]"}
	explainValues      = phrase{"    coluna %s: %s", "    column %s: %s"}
	explainKeys        = phrase{"    linhas: %s", "    rows: %s"}
	explainMissing     = phrase{"… %d × %s: código %s", "… %d × %s: code %s"}
	explainParents     = phrase{"… %d × aguarda uma linha do job %s", "… %d × waits for a row of job %s"}
	explainClean       = phrase{"Nenhuma linha quebra uma regra.", "No row breaks a rule."}

	diffFlagsClash = phrase{"--erp e --all só valem com --diff", "--erp and --all go with --diff only"}
	diffTitle      = phrase{"%s: %d linhas enviadas; com a configuração de agora: %d iguais, %d diferentes, %d seriam recusadas, %d aguardariam, %d não comparáveis", "%s: %d rows sent; with the configuration of now: %d the same, %d different, %d would be refused, %d would wait, %d not comparable"}
	diffField      = phrase{"  %d × %s (%s)", "  %d × %s (%s)"}
	diffChange     = phrase{"      %d × %s → %s   linhas: %s", "      %d × %s → %s   rows: %s"}
	diffMore       = phrase{"      … e outros; --json tem mais de %s", "      … and others; --json has more of %s"}
	diffAbsent     = phrase{"(ausente)", "(absent)"}
	diffRefused    = phrase{"  ✗ %d × %s   linhas: %s", "  ✗ %d × %s   rows: %s"}
	diffWaits      = phrase{"  … %d × aguardaria %s   linhas: %s", "  … %d × would wait for %s   rows: %s"}
	diffUnmapped   = phrase{"  não comparável em %d linhas: a coluna %s não era mapeada quando foram enviadas", "  not comparable in %d rows: column %s was not mapped when they were sent"}
	diffAskERP     = phrase{"    com --erp, essas colunas são lidas do ERP como está agora", "    with --erp these columns are read from the ERP as it is now"}
	diffNoPayload  = phrase{"  não comparável em %d linhas: o pedido enviado não é mais guardado", "  not comparable in %d rows: the request that was sent is no longer kept"}
	diffSums       = phrase{"  soma em %s: %d linhas enviadas com %s; seriam %s (diferença %s)", "  sum in %s: %d rows sent with %s; it would be %s (difference %s)"}

	ruleColumn       = phrase{"vem da coluna %s", "comes from column %s"}
	ruleConst        = phrase{"é sempre «%s»", "is always «%s»"}
	ruleNotMapped    = phrase{"a configuração não mapeia: nunca é enviado", "the configuration does not map it: it is never sent"}
	ruleSentBy       = phrase{"é a chave de uma linha de %s; o id que ela tem na plataforma é o que vai, e até tê-lo a linha aguarda", "is the key of a row of %s; the id that it has on the platform is what is sent, and until it has one the row waits"}
	ruleRef          = phrase{"o de-para %s troca o código pelo id da plataforma; sem ele a linha aguarda", "the de-para %s turns the code into the platform's id; without it the row waits"}
	ruleValues       = phrase{"convertido pela tabela %s; fora dela é erro da linha", "converted by the map %s; what is not in it is an error of the row"}
	ruleDateForm     = phrase{"escrita como %s", "written as %s"}
	ruleDateNative   = phrase{"data do próprio banco, ou texto AAAA-MM-DD", "a date of the database, or text YYYY-MM-DD"}
	ruleNumberForm   = phrase{"escrito como %s", "written as %s"}
	ruleNumberNative = phrase{"número do próprio banco, ou texto como 1234.56", "a number of the database, or text like 1234.56"}
	ruleScale        = phrase{"arredondado a %d casas", "rounded to %d digits"}
	ruleEmpty        = phrase{"também contam como vazio: %s", "these count as empty too: %s"}
	ruleDefault      = phrase{"quando vazio, vai «%s»", "where empty, «%s» goes"}
	ruleAlways       = phrase{"sempre exigido", "always required"}
	ruleOptional     = phrase{"opcional: vazio não vai", "optional: where empty, it does not go"}
	ruleRequiredWhen = phrase{"exigido quando %s; nas demais vai se houver", "required when %s; in other rows it goes where there is one"}
	ruleNeverThere   = phrase{"ATENÇÃO: sem mapeamento, toda linha com %s é recusada", "MIND: without a mapping every row with %s is refused"}

	formNumber  = phrase{"forma: número decimal exato", "form: an exact decimal number"}
	formUUID    = phrase{"forma: identificador da plataforma (UUID)", "form: an id of the platform (UUID)"}
	formEnum    = phrase{"forma: um de %s", "form: one of %s"}
	formDay     = phrase{"forma: data AAAA-MM-DD", "form: a date YYYY-MM-DD"}
	formHarvest = phrase{"forma: ano/ano, como 2025/2026 ou 2026/2026", "form: year/year, as in 2025/2026 or 2026/2026"}
	formText    = phrase{"forma: texto", "form: text"}
	formCAR     = phrase{"forma: número do CAR, UF-NNNNNNN-32 dígitos hexadecimais; pontos e minúsculas são aceitos", "form: a CAR number, UF-NNNNNNN-32 hex digits; dots and small letters are no fault"}
	formOther   = phrase{"forma: %s", "form: %s"}

	checkPositiveWords = phrase{"deve ser maior que zero", "must be above zero"}
	checkWindowWords   = phrase{"deve estar entre 01/01/2000 e daqui a cinco anos", "must be between 2000-01-01 and five years from today"}
	checkHarvestWords  = phrase{"o segundo ano deve ser o primeiro ou o seguinte", "the second year must be the first or the one after it"}
	checkCARWords      = phrase{"deve ser um número do CAR completo", "must be a whole CAR number"}
	checkOrderWords    = phrase{"não pode ser anterior a %s", "must not be before %s"}
)

var severityWords = map[trade.Severity]phrase{
	trade.Refuse:  {"(senão a linha não é enviada)", "(else the row is not sent)"},
	trade.Warning: {"(senão a linha segue com observação)", "(else the row goes with a remark)"},
	trade.Shape:   {"(basta a forma UF-número-código; senão a linha não é enviada)", "(the shape UF-number-code is enough; else the row is not sent)"},
	trade.Off:     {"(não verificado)", "(not checked)"},
}
