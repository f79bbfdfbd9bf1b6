package main

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
	testFileExists    = phrase{"%s já existe e não é sobrescrito; dê outro nome de arquivo", "%s exists and is not overwritten; give another file name"}
	testWritten       = phrase{"%s gravado; confira o resultado que ele espera", "%s written; check the result that it expects"}
)
