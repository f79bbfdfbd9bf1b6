package main

// What `selftest` says.
var (
	helpSelftest     = phrase{"tenta, nesta máquina, fazer o programa perder ou repetir uma linha, e confere que não consegue", "tries, here and now, to make the program lose or repeat a row, and checks that it cannot"}
	helpSelftestLong = phrase{
		`Um ERP de mentira em que pessoas escrevem, uma rede e uma plataforma que falham de todas as maneiras, e o programa de verdade, morto (kill -9) quantas vezes
se pedir. No fim as falhas cessam, uma pessoa decide o que ficou sem confirmação, e cada linha tem de estar na plataforma exatamente uma vez. Nada do ERP, do
registro local ou da plataforma da cooperativa é usado.`,
		`An ERP that people write to, a network and a platform that fail in every way, and the real program, killed (kill -9) as often as asked. In the end the faults
stop, a person decides what is in doubt, and each row must be on the platform exactly once. Nothing of the cooperative's ERP, ledger or platform is used.`,
	}
	selftestBegins   = phrase{"o programa será morto %d vezes (semente %d)…", "the program will be killed %d times (seed %d)…"}
	selftestProgress = phrase{"%d de %d mortes", "%d of %d kills"}
	selftestVerdict  = phrase{
		`%d mortes; %d linhas no ERP, %d registros na plataforma
perdidas: %d · repetidas: %d · dadas por enviadas sem estar: %d · criadas sem que se saiba: %d
sem confirmação ao fim das falhas: %d; deixadas sem confirmação por uma morte, no máximo: %d (de %d)
fora do lugar depois que uma pessoa decidiu tudo: %d`,
		`%d kills; %d rows in the ERP, %d records on the platform
lost: %d · doubled: %d · accepted without being there: %d · created without our knowing: %d
in doubt when the faults ended: %d; left in doubt by one kill, at most: %d (of %d)
out of place after a person decided everything: %d`,
	}
	selftestExamples = phrase{"o que está errado:\n  %s", "what is wrong:\n  %s"}
	selftestFailed   = phrase{"a prova falhou; repita com --seed %d --dir PASTA e envie a pasta ao suporte do safrasync", "the trial failed; repeat it with --seed %d --dir FOLDER and report it with the folder"}
)
