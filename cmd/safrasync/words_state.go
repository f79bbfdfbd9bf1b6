package main

// What `safrasync state copy` says.
var (
	helpState     = phrase{"o registro local como um todo", "the ledger as a whole"}
	helpStateCopy = phrase{"muda o registro local para outro banco (SQLite ou PostgreSQL), conferido", "move the ledger to another database (SQLite or PostgreSQL), verified"}

	stateCopyPlan = phrase{
		"O registro local %s vai para %s: %d linha(s) enviadas, %d que ficam em dúvida. O antigo é marcado e nunca mais envia; guarde-o para consulta.",
		"The ledger %s goes to %s: %d row(s) that were sent, %d that will be in doubt. The old one is marked and never sends again; keep it to look at.",
	}
	stateCopyTable  = phrase{"  %-14s %9d linhas, iguais nos dois bancos (%s)", "  %-14s %9d rows, the same in both databases (%s)"}
	stateCopyBefore = phrase{"Já tinha sido levado para %s; nada mais foi copiado.", "It had been moved to %s before; nothing more was copied."}
	stateCopyDone   = phrase{
		"Feito. O registro local está em %s. Agora escreva state.driver: %s e o novo state.dsn na configuração, em todas as máquinas, e rode `safrasync doctor`; %s recusa qualquer envio.",
		"Done. The ledger is in %s. Now write state.driver: %s and the new state.dsn in the configuration, on every machine, and run `safrasync doctor`; %s refuses to send anything.",
	}
)
