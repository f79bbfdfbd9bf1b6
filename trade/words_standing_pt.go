package trade

// portugueseStanding is what a state means by itself, where no cause says more.
var portugueseStanding = map[State]Advice{
	Waiting:  {What: "aguarda um contrato, um de-para ou um registro da plataforma", Who: "conforme o que falta", Where: "veja o que a linha aguarda", Do: "Resolva o que falta; a linha segue sozinha."},
	Invalid:  {What: "tem dado ausente ou errado e não foi enviada", Who: "Contabilidade/Comercial, no ERP", Where: "ERP, no documento", Do: "Corrija o ERP; a próxima execução envia sozinha."},
	Accepted: {What: "está na plataforma", Who: "ninguém", Where: "plataforma", Do: "Nada a fazer."},
	InDoubt:  {What: "não se sabe se a plataforma criou o registro (a resposta se perdeu)", Who: "Contabilidade", Where: "plataforma", Do: "Procure na plataforma: se existir, `safrasync adopt` com o id; se não, `safrasync resend --checked`. Nunca é reenviado sozinho, para não duplicar."},
	Held:     {What: "só uma pessoa pode decidir", Who: "Contabilidade", Where: "plataforma e ERP", Do: "Veja o motivo da linha e decida: confirmar o id, tentar de novo ou dispensar."},
}

// portugueseFlags are what a flag means, and what to do.
var portugueseFlags = map[Flag]Advice{
	Changed:             {What: "o ERP mudou depois do envio; a plataforma tem o que foi enviado", Who: "Contabilidade", Where: "plataforma", Do: "Corrija na plataforma à mão e registre com `safrasync acknowledge`."},
	MissingInERP:        {What: "a linha sumiu do ERP depois do envio", Who: "Contabilidade", Where: "ERP e plataforma", Do: "Veja por que saiu; se foi excluída de propósito, exclua na plataforma e registre com `safrasync acknowledge`."},
	Cancelled:           {What: "a linha foi cancelada no ERP depois do envio", Who: "Contabilidade", Where: "plataforma", Do: "Cancele na plataforma à mão e registre com `safrasync acknowledge`."},
	Forced:              {What: "foi enviada outra vez por decisão de uma pessoa", Who: "ninguém", Where: "auditoria", Do: "Nada a fazer; a decisão e o motivo estão na auditoria."},
	EchoDiffers:         {What: "a resposta da plataforma repete outros valores que os enviados", Who: "Contabilidade", Where: "plataforma", Do: "Confira o registro na plataforma."},
	Twin:                {What: "outra linha do ERP tem o mesmo conteúdo", Who: "Contabilidade", Where: "ERP", Do: "Confira no ERP se são mesmo dois documentos."},
	NearTwin:            {What: "outra linha do ERP tem o mesmo produtor, produto, data e volume, com outro preço ou outro campo opcional", Who: "Contabilidade", Where: "ERP", Do: "Confira no ERP se são mesmo dois documentos."},
	DeletedRemote:       {What: "a plataforma diz que o registro foi excluído lá", Who: "Contabilidade", Where: "plataforma", Do: "Veja com quem administra a plataforma por que foi excluído."},
	Contradicted:        {What: "uma resposta que chegou depois contradiz o que uma pessoa decidiu", Who: "Contabilidade", Where: "plataforma", Do: "Confira na plataforma qual registro vale e registre com `safrasync acknowledge`."},
	DoubleAfterDecision: {What: "pode haver dois registros na plataforma: o primeiro envio foi confirmado depois do segundo", Who: "Contabilidade", Where: "plataforma", Do: "Exclua um dos dois na plataforma e registre com `safrasync acknowledge`."},
	Replaced: {
		What: "a linha que foi enviada já não está sob esta chave: mudou de número ou saiu do ERP; o que está aqui nunca foi enviado", Who: "TI e contabilidade", Where: "ERP e plataforma",
		Do: "Se as linhas foram renumeradas: dê ao job uma chave que fique com o documento, e registre o documento novo na plataforma à mão. Se o número foi reutilizado: dê ao documento novo um número próprio.",
	},
	Moved: {What: "o registro passou para a linha renumerada", Who: "ninguém", Where: "ERP", Do: "Nada a fazer; a linha nova responde por ele."},
}
