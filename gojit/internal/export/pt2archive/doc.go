// Package pt2archive is the form of archives in which PyTorch 2 has exported programs: torch.export.save of PyTorch writes it.
//
// Such an archive has the program as JSON in models/NAME.json, the bytes of parameters, buffers and constants in data/, and the arguments
// that the program was captured with as a pickle. Read makes the program one of Export IR (package exportir), with its tensors; Records is the way back.
//
// An archive is data alone: nothing in it is run, and pickles are read as those of archives of TorchScript are.
package pt2archive
