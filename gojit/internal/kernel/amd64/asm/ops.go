package asm

// Op is a vector instruction.
type Op uint8

// The vector instructions, under their AVX names without the v. A name that ends in store writes its
// last operand.
const (
	ADDPS Op = iota
	ADDPD
	MULPS
	MULPD
	SUBPS
	SUBPD
	MINPS
	MINPD
	DIVPS
	DIVPD
	MAXPS
	MAXPD
	ANDPS
	ANDPD
	ANDNPS
	ANDNPD
	ORPS
	ORPD
	XORPS
	XORPD
	UNPCKLPS
	UNPCKLPD
	UNPCKHPS
	UNPCKHPD
	SQRTPS
	SHUFPS
	CMPPS
	SQRTPD
	SHUFPD
	CMPPD
	MOVUPS
	MOVUPSstore
	MOVUPD
	MOVUPDstore
	MOVDQU16store
	MOVNTPS
	MOVNTPD
	MOVAPD
	MOVAPS
	MOVSS
	MOVSSstore
	MOVSD
	MOVSDstore
	ADDSD
	SUBSD
	MULSD
	DIVSD
	SQRTSD
	ROUNDSD
	UCOMISD
	BROADCASTSS
	BROADCASTSD
	PBROADCASTD
	PBROADCASTQ
	FMADD132PS
	FMADD132PD
	FMADD213PS
	FMADD213PD
	FMADD231PS
	FMADD231PD
	FNMADD231PS
	FNMADD231PD
	ROUNDPS
	ROUNDPD
	SCALEFPS
	SCALEFPD
	GETEXPPS
	GETEXPPD
	GETMANTPS
	GETMANTPD
	CVTDQ2PS
	CVTTPS2DQ
	CVTPS2DQ
	CVTDQ2PD
	CVTPS2PD
	CVTPD2PS
	CVTTPD2DQ
	CVTQQ2PD
	CVTTPD2QQ
	CVTQQ2PS
	CVTTPS2QQ
	CVTPH2PS
	CVTPS2PHstore
	PADDD
	PADDQ
	PMADDWD
	PMAXUB
	PSUBD
	PSUBQ
	PMULLD
	PMULLQ
	PMULUDQ
	PMINSD
	PMINSQ
	PMAXSD
	PMAXSQ
	PABSD
	PABSQ
	POR
	PXOR
	PCMPEQD
	PCMPGTD
	PCMPEQQ
	PCMPGTQ
	PCMPD
	PCMPQ
	PSRLW
	PSLLD
	PSRLD
	PSRAD
	PSLLQ
	PSRLQ
	PSRAQ
	PSLLVD
	PSLLVQ
	PSRLVQ
	PSRAVD
	PSRAVQ
	BLENDVPS
	BLENDVPD
	BLENDMPS
	BLENDMPD
	PTERNLOGD
	PTERNLOGQ
	PMOVM2D
	PMOVM2Q
	PMOVSXBD
	PMOVSXWD
	PMOVSXDQ
	PMOVZXBD
	PMOVZXWD
	PMOVDBstore
	PMOVDWstore
	PMOVQDstore
	PSHUFB
	PSHUFD
	PERMQ
	PERMD
	PERMPS
	PERMW
	PERMT2PS
	PERMT2PD
	PERM2F128
	SHUFF32X4
	EXTRACTF128store
	EXTRACTF32X4store
	MASKMOVPS
	MASKMOVPSstore
	MASKMOVPD
	MASKMOVPDstore
	DPBF16PS
	PDPBUSD
	PDPWSSD
	MOVMSKPS // Assembler.MoveMask emits these two
	MOVMSKPD
	numOps
)

// Ops describes the instructions: name, opcode map, prefix, opcode, operands, memory operand, W bit,
// encodings, and what differs.
var Ops = [numOps]opInfo{
	ADDPS:             {name: "addps", opmap: m0F, prefix: np, code: 0x58, Form: rvm, Mem: Full32, w: w0, sets: legacy | vex | evex},
	ADDPD:             {name: "addpd", opmap: m0F, prefix: p66, code: 0x58, Form: rvm, Mem: Full64, w: w1e, sets: legacy | vex | evex},
	MULPS:             {name: "mulps", opmap: m0F, prefix: np, code: 0x59, Form: rvm, Mem: Full32, w: w0, sets: legacy | vex | evex},
	MULPD:             {name: "mulpd", opmap: m0F, prefix: p66, code: 0x59, Form: rvm, Mem: Full64, w: w1e, sets: legacy | vex | evex},
	SUBPS:             {name: "subps", opmap: m0F, prefix: np, code: 0x5c, Form: rvm, Mem: Full32, w: w0, sets: legacy | vex | evex},
	SUBPD:             {name: "subpd", opmap: m0F, prefix: p66, code: 0x5c, Form: rvm, Mem: Full64, w: w1e, sets: legacy | vex | evex},
	MINPS:             {name: "minps", opmap: m0F, prefix: np, code: 0x5d, Form: rvm, Mem: Full32, w: w0, sets: legacy | vex | evex},
	MINPD:             {name: "minpd", opmap: m0F, prefix: p66, code: 0x5d, Form: rvm, Mem: Full64, w: w1e, sets: legacy | vex | evex},
	DIVPS:             {name: "divps", opmap: m0F, prefix: np, code: 0x5e, Form: rvm, Mem: Full32, w: w0, sets: legacy | vex | evex},
	DIVPD:             {name: "divpd", opmap: m0F, prefix: p66, code: 0x5e, Form: rvm, Mem: Full64, w: w1e, sets: legacy | vex | evex},
	MAXPS:             {name: "maxps", opmap: m0F, prefix: np, code: 0x5f, Form: rvm, Mem: Full32, w: w0, sets: legacy | vex | evex},
	MAXPD:             {name: "maxpd", opmap: m0F, prefix: p66, code: 0x5f, Form: rvm, Mem: Full64, w: w1e, sets: legacy | vex | evex},
	ANDPS:             {name: "andps", opmap: m0F, prefix: np, code: 0x54, Form: rvm, Mem: Full32, w: w0, sets: legacy | vex | evex},
	ANDPD:             {name: "andpd", opmap: m0F, prefix: p66, code: 0x54, Form: rvm, Mem: Full64, w: w1e, sets: legacy | vex | evex},
	ANDNPS:            {name: "andnps", opmap: m0F, prefix: np, code: 0x55, Form: rvm, Mem: Full32, w: w0, sets: legacy | vex | evex},
	ANDNPD:            {name: "andnpd", opmap: m0F, prefix: p66, code: 0x55, Form: rvm, Mem: Full64, w: w1e, sets: legacy | vex | evex},
	ORPS:              {name: "orps", opmap: m0F, prefix: np, code: 0x56, Form: rvm, Mem: Full32, w: w0, sets: legacy | vex | evex},
	ORPD:              {name: "orpd", opmap: m0F, prefix: p66, code: 0x56, Form: rvm, Mem: Full64, w: w1e, sets: legacy | vex | evex},
	XORPS:             {name: "xorps", opmap: m0F, prefix: np, code: 0x57, Form: rvm, Mem: Full32, w: w0, sets: legacy | vex | evex},
	XORPD:             {name: "xorpd", opmap: m0F, prefix: p66, code: 0x57, Form: rvm, Mem: Full64, w: w1e, sets: legacy | vex | evex},
	UNPCKLPS:          {name: "unpcklps", opmap: m0F, prefix: np, code: 0x14, Form: rvm, Mem: Full32, w: w0, sets: legacy | vex | evex},
	UNPCKLPD:          {name: "unpcklpd", opmap: m0F, prefix: p66, code: 0x14, Form: rvm, Mem: Full64, w: w1e, sets: legacy | vex | evex},
	UNPCKHPS:          {name: "unpckhps", opmap: m0F, prefix: np, code: 0x15, Form: rvm, Mem: Full32, w: w0, sets: legacy | vex | evex},
	UNPCKHPD:          {name: "unpckhpd", opmap: m0F, prefix: p66, code: 0x15, Form: rvm, Mem: Full64, w: w1e, sets: legacy | vex | evex},
	SQRTPS:            {name: "sqrtps", opmap: m0F, prefix: np, code: 0x51, Form: rm, Mem: Full32, w: w0, sets: legacy | vex | evex},
	SHUFPS:            {name: "shufps", opmap: m0F, prefix: np, code: 0xc6, Form: rvmi, Mem: Full32, w: w0, sets: legacy | vex | evex},
	CMPPS:             {name: "cmpps", opmap: m0F, prefix: np, code: 0xc2, Form: rvmi, Mem: Full32, w: w0, sets: legacy | vex | evex, flags: toMask},
	SQRTPD:            {name: "sqrtpd", opmap: m0F, prefix: p66, code: 0x51, Form: rm, Mem: Full64, w: w1e, sets: legacy | vex | evex},
	SHUFPD:            {name: "shufpd", opmap: m0F, prefix: p66, code: 0xc6, Form: rvmi, Mem: Full64, w: w1e, sets: legacy | vex | evex},
	CMPPD:             {name: "cmppd", opmap: m0F, prefix: p66, code: 0xc2, Form: rvmi, Mem: Full64, w: w1e, sets: legacy | vex | evex, flags: toMask},
	MOVUPS:            {name: "movups", opmap: m0F, prefix: np, code: 0x10, Form: rm, Mem: FullMem, w: w0, sets: legacy | vex | evex},
	MOVUPSstore:       {name: "movups", opmap: m0F, prefix: np, code: 0x11, Form: mr, Mem: FullMem, w: w0, sets: legacy | vex | evex, flags: memOnly},
	MOVUPD:            {name: "movupd", opmap: m0F, prefix: p66, code: 0x10, Form: rm, Mem: FullMem, w: w1e, sets: legacy | vex | evex},
	MOVUPDstore:       {name: "movupd", opmap: m0F, prefix: p66, code: 0x11, Form: mr, Mem: FullMem, w: w1e, sets: legacy | vex | evex, flags: memOnly},
	MOVDQU16store:     {name: "movdqu16", opmap: m0F, prefix: pF2, code: 0x7f, Form: mr, Mem: FullMem, w: w1, sets: evex, flags: memOnly},
	MOVNTPS:           {name: "movntps", opmap: m0F, prefix: np, code: 0x2b, Form: mr, Mem: FullMem, w: w0, sets: legacy | vex | evex, flags: memOnly},
	MOVNTPD:           {name: "movntpd", opmap: m0F, prefix: p66, code: 0x2b, Form: mr, Mem: FullMem, w: w1e, sets: legacy | vex | evex, flags: memOnly},
	MOVAPD:            {name: "movapd", opmap: m0F, prefix: p66, code: 0x28, Form: rm, Mem: FullMem, w: w1e, sets: legacy | vex | evex},
	MOVAPS:            {name: "movaps", opmap: m0F, prefix: np, code: 0x28, Form: rm, Mem: FullMem, w: w0, sets: legacy | vex | evex},
	MOVSS:             {name: "movss", opmap: m0F, prefix: pF3, code: 0x10, Form: rm, Mem: elem4, w: w0, sets: legacy | vex | evex, flags: memOnly | scalar},
	MOVSSstore:        {name: "movss", opmap: m0F, prefix: pF3, code: 0x11, Form: mr, Mem: elem4, w: w0, sets: legacy | vex | evex, flags: memOnly | scalar},
	MOVSD:             {name: "movsd", opmap: m0F, prefix: pF2, code: 0x10, Form: rm, Mem: elem8, w: w1e, sets: legacy | vex | evex, flags: memOnly | scalar},
	MOVSDstore:        {name: "movsd", opmap: m0F, prefix: pF2, code: 0x11, Form: mr, Mem: elem8, w: w1e, sets: legacy | vex | evex, flags: memOnly | scalar},
	ADDSD:             {name: "addsd", opmap: m0F, prefix: pF2, code: 0x58, Form: rvm, Mem: elem8, w: w1e, sets: legacy | vex, flags: scalar},
	SUBSD:             {name: "subsd", opmap: m0F, prefix: pF2, code: 0x5c, Form: rvm, Mem: elem8, w: w1e, sets: legacy | vex, flags: scalar},
	MULSD:             {name: "mulsd", opmap: m0F, prefix: pF2, code: 0x59, Form: rvm, Mem: elem8, w: w1e, sets: legacy | vex, flags: scalar},
	DIVSD:             {name: "divsd", opmap: m0F, prefix: pF2, code: 0x5e, Form: rvm, Mem: elem8, w: w1e, sets: legacy | vex, flags: scalar},
	SQRTSD:            {name: "sqrtsd", opmap: m0F, prefix: pF2, code: 0x51, Form: rvm, Mem: elem8, w: w1e, sets: legacy | vex, flags: scalar},
	ROUNDSD:           {name: "roundsd", opmap: m3A, prefix: p66, code: 0x0b, Form: rvmi, Mem: elem8, w: w1e, sets: legacy | vex, flags: scalar},
	UCOMISD:           {name: "ucomisd", opmap: m0F, prefix: p66, code: 0x2e, Form: rm, Mem: elem8, w: w1e, sets: legacy | vex, flags: scalar},
	BROADCASTSS:       {name: "broadcastss", opmap: m38, prefix: p66, code: 0x18, Form: rm, Mem: elem4, w: w0, sets: vex | evex, flags: fromScalar},
	BROADCASTSD:       {name: "broadcastsd", opmap: m38, prefix: p66, code: 0x19, Form: rm, Mem: elem8, w: w1e, sets: vex | evex, flags: fromScalar | wide},
	PBROADCASTD:       {name: "pbroadcastd", opmap: m38, prefix: p66, code: 0x58, Form: rm, Mem: elem4, w: w0, sets: vex | evex, flags: fromScalar},
	PBROADCASTQ:       {name: "pbroadcastq", opmap: m38, prefix: p66, code: 0x59, Form: rm, Mem: elem8, w: w1e, sets: vex | evex, flags: fromScalar},
	FMADD132PS:        {name: "fmadd132ps", opmap: m38, prefix: p66, code: 0x98, Form: rvm, Mem: Full32, w: w0, sets: vex | evex},
	FMADD132PD:        {name: "fmadd132pd", opmap: m38, prefix: p66, code: 0x98, Form: rvm, Mem: Full64, w: w1, sets: vex | evex},
	FMADD213PS:        {name: "fmadd213ps", opmap: m38, prefix: p66, code: 0xa8, Form: rvm, Mem: Full32, w: w0, sets: vex | evex},
	FMADD213PD:        {name: "fmadd213pd", opmap: m38, prefix: p66, code: 0xa8, Form: rvm, Mem: Full64, w: w1, sets: vex | evex},
	FMADD231PS:        {name: "fmadd231ps", opmap: m38, prefix: p66, code: 0xb8, Form: rvm, Mem: Full32, w: w0, sets: vex | evex},
	FMADD231PD:        {name: "fmadd231pd", opmap: m38, prefix: p66, code: 0xb8, Form: rvm, Mem: Full64, w: w1, sets: vex | evex},
	FNMADD231PS:       {name: "fnmadd231ps", opmap: m38, prefix: p66, code: 0xbc, Form: rvm, Mem: Full32, w: w0, sets: vex | evex},
	FNMADD231PD:       {name: "fnmadd231pd", opmap: m38, prefix: p66, code: 0xbc, Form: rvm, Mem: Full64, w: w1, sets: vex | evex},
	ROUNDPS:           {name: "roundps", opmap: m3A, prefix: p66, code: 0x08, Form: rmi, Mem: Full32, w: w0, sets: legacy | vex | evex, evexName: "rndscaleps"},
	ROUNDPD:           {name: "roundpd", opmap: m3A, prefix: p66, code: 0x09, Form: rmi, Mem: Full64, w: w1e, sets: legacy | vex | evex, evexName: "rndscalepd"},
	SCALEFPS:          {name: "scalefps", opmap: m38, prefix: p66, code: 0x2c, Form: rvm, Mem: Full32, w: w0, sets: evex},
	SCALEFPD:          {name: "scalefpd", opmap: m38, prefix: p66, code: 0x2c, Form: rvm, Mem: Full64, w: w1, sets: evex},
	GETEXPPS:          {name: "getexpps", opmap: m38, prefix: p66, code: 0x42, Form: rm, Mem: Full32, w: w0, sets: evex},
	GETEXPPD:          {name: "getexppd", opmap: m38, prefix: p66, code: 0x42, Form: rm, Mem: Full64, w: w1, sets: evex},
	GETMANTPS:         {name: "getmantps", opmap: m3A, prefix: p66, code: 0x26, Form: rmi, Mem: Full32, w: w0, sets: evex},
	GETMANTPD:         {name: "getmantpd", opmap: m3A, prefix: p66, code: 0x26, Form: rmi, Mem: Full64, w: w1, sets: evex},
	CVTDQ2PS:          {name: "cvtdq2ps", opmap: m0F, prefix: np, code: 0x5b, Form: rm, Mem: Full32, w: w0, sets: legacy | vex | evex},
	CVTTPS2DQ:         {name: "cvttps2dq", opmap: m0F, prefix: pF3, code: 0x5b, Form: rm, Mem: Full32, w: w0, sets: legacy | vex | evex},
	CVTPS2DQ:          {name: "cvtps2dq", opmap: m0F, prefix: p66, code: 0x5b, Form: rm, Mem: Full32, w: w0, sets: legacy | vex | evex},
	CVTDQ2PD:          {name: "cvtdq2pd", opmap: m0F, prefix: pF3, code: 0xe6, Form: rm, Mem: half32, w: w0, sets: legacy | vex | evex},
	CVTPS2PD:          {name: "cvtps2pd", opmap: m0F, prefix: np, code: 0x5a, Form: rm, Mem: half32, w: w0, sets: legacy | vex | evex},
	CVTPD2PS:          {name: "cvtpd2ps", opmap: m0F, prefix: p66, code: 0x5a, Form: rm, Mem: Full64, w: w1e, sets: legacy | vex | evex, flags: narrow},
	CVTTPD2DQ:         {name: "cvttpd2dq", opmap: m0F, prefix: p66, code: 0xe6, Form: rm, Mem: Full64, w: w1e, sets: legacy | vex | evex, flags: narrow},
	CVTQQ2PD:          {name: "cvtqq2pd", opmap: m0F, prefix: pF3, code: 0xe6, Form: rm, Mem: Full64, w: w1, sets: evex},
	CVTTPD2QQ:         {name: "cvttpd2qq", opmap: m0F, prefix: p66, code: 0x7a, Form: rm, Mem: Full64, w: w1, sets: evex},
	CVTQQ2PS:          {name: "cvtqq2ps", opmap: m0F, prefix: np, code: 0x5b, Form: rm, Mem: Full64, w: w1, sets: evex, flags: narrow},
	CVTTPS2QQ:         {name: "cvttps2qq", opmap: m0F, prefix: p66, code: 0x7a, Form: rm, Mem: half32, w: w0, sets: evex},
	CVTPH2PS:          {name: "cvtph2ps", opmap: m38, prefix: p66, code: 0x13, Form: rm, Mem: halfMem, w: w0, sets: vex | evex},
	CVTPS2PHstore:     {name: "cvtps2ph", opmap: m3A, prefix: p66, code: 0x1d, Form: mri, Mem: halfMem, w: w0, sets: vex | evex},
	PADDD:             {name: "paddd", opmap: m0F, prefix: p66, code: 0xfe, Form: rvm, Mem: Full32, w: w0, sets: legacy | vex | evex},
	PADDQ:             {name: "paddq", opmap: m0F, prefix: p66, code: 0xd4, Form: rvm, Mem: Full64, w: w1e, sets: legacy | vex | evex},
	PMADDWD:           {name: "pmaddwd", opmap: m0F, prefix: p66, code: 0xf5, Form: rvm, Mem: FullMem, w: w0, sets: legacy | vex | evex},
	PMAXUB:            {name: "pmaxub", opmap: m0F, prefix: p66, code: 0xde, Form: rvm, Mem: FullMem, w: w0, sets: legacy | vex | evex},
	PSUBD:             {name: "psubd", opmap: m0F, prefix: p66, code: 0xfa, Form: rvm, Mem: Full32, w: w0, sets: legacy | vex | evex},
	PSUBQ:             {name: "psubq", opmap: m0F, prefix: p66, code: 0xfb, Form: rvm, Mem: Full64, w: w1e, sets: legacy | vex | evex},
	PMULLD:            {name: "pmulld", opmap: m38, prefix: p66, code: 0x40, Form: rvm, Mem: Full32, w: w0, sets: legacy | vex | evex},
	PMULLQ:            {name: "pmullq", opmap: m38, prefix: p66, code: 0x40, Form: rvm, Mem: Full64, w: w1, sets: evex},
	PMULUDQ:           {name: "pmuludq", opmap: m0F, prefix: p66, code: 0xf4, Form: rvm, Mem: Full64, w: w1e, sets: legacy | vex | evex},
	PMINSD:            {name: "pminsd", opmap: m38, prefix: p66, code: 0x39, Form: rvm, Mem: Full32, w: w0, sets: legacy | vex | evex},
	PMINSQ:            {name: "pminsq", opmap: m38, prefix: p66, code: 0x39, Form: rvm, Mem: Full64, w: w1, sets: evex},
	PMAXSD:            {name: "pmaxsd", opmap: m38, prefix: p66, code: 0x3d, Form: rvm, Mem: Full32, w: w0, sets: legacy | vex | evex},
	PMAXSQ:            {name: "pmaxsq", opmap: m38, prefix: p66, code: 0x3d, Form: rvm, Mem: Full64, w: w1, sets: evex},
	PABSD:             {name: "pabsd", opmap: m38, prefix: p66, code: 0x1e, Form: rm, Mem: Full32, w: w0, sets: legacy | vex | evex},
	PABSQ:             {name: "pabsq", opmap: m38, prefix: p66, code: 0x1f, Form: rm, Mem: Full64, w: w1, sets: evex},
	POR:               {name: "por", opmap: m0F, prefix: p66, code: 0xeb, Form: rvm, Mem: Full32, w: w0, sets: legacy | vex | evex, evexName: "pord"},
	PXOR:              {name: "pxor", opmap: m0F, prefix: p66, code: 0xef, Form: rvm, Mem: Full32, w: w0, sets: legacy | vex | evex, evexName: "pxord"},
	PCMPEQD:           {name: "pcmpeqd", opmap: m0F, prefix: p66, code: 0x76, Form: rvm, Mem: FullMem, w: w0, sets: legacy | vex},
	PCMPGTD:           {name: "pcmpgtd", opmap: m0F, prefix: p66, code: 0x66, Form: rvm, Mem: FullMem, w: w0, sets: legacy | vex},
	PCMPEQQ:           {name: "pcmpeqq", opmap: m38, prefix: p66, code: 0x29, Form: rvm, Mem: FullMem, w: w0, sets: legacy | vex},
	PCMPGTQ:           {name: "pcmpgtq", opmap: m38, prefix: p66, code: 0x37, Form: rvm, Mem: FullMem, w: w0, sets: legacy | vex},
	PCMPD:             {name: "pcmpd", opmap: m3A, prefix: p66, code: 0x1f, Form: rvmi, Mem: Full32, w: w0, sets: evex, flags: toMask},
	PCMPQ:             {name: "pcmpq", opmap: m3A, prefix: p66, code: 0x1f, Form: rvmi, Mem: Full64, w: w1, sets: evex, flags: toMask},
	PSRLW:             {name: "psrlw", opmap: m0F, prefix: p66, code: 0x71, Form: Vmi, Mem: FullMem, w: w0, sets: legacy | vex | evex, ext: 2},
	PSLLD:             {name: "pslld", opmap: m0F, prefix: p66, code: 0x72, Form: Vmi, Mem: Full32, w: w0, sets: legacy | vex | evex, ext: 6},
	PSRLD:             {name: "psrld", opmap: m0F, prefix: p66, code: 0x72, Form: Vmi, Mem: Full32, w: w0, sets: legacy | vex | evex, ext: 2},
	PSRAD:             {name: "psrad", opmap: m0F, prefix: p66, code: 0x72, Form: Vmi, Mem: Full32, w: w0, sets: legacy | vex | evex, ext: 4},
	PSLLQ:             {name: "psllq", opmap: m0F, prefix: p66, code: 0x73, Form: Vmi, Mem: Full64, w: w1e, sets: legacy | vex | evex, ext: 6},
	PSRLQ:             {name: "psrlq", opmap: m0F, prefix: p66, code: 0x73, Form: Vmi, Mem: Full64, w: w1e, sets: legacy | vex | evex, ext: 2},
	PSRAQ:             {name: "psraq", opmap: m0F, prefix: p66, code: 0x72, Form: Vmi, Mem: Full64, w: w1, sets: evex, ext: 4},
	PSLLVD:            {name: "psllvd", opmap: m38, prefix: p66, code: 0x47, Form: rvm, Mem: Full32, w: w0, sets: vex | evex},
	PSLLVQ:            {name: "psllvq", opmap: m38, prefix: p66, code: 0x47, Form: rvm, Mem: Full64, w: w1, sets: vex | evex},
	PSRLVQ:            {name: "psrlvq", opmap: m38, prefix: p66, code: 0x45, Form: rvm, Mem: Full64, w: w1, sets: vex | evex},
	PSRAVD:            {name: "psravd", opmap: m38, prefix: p66, code: 0x46, Form: rvm, Mem: Full32, w: w0, sets: vex | evex},
	PSRAVQ:            {name: "psravq", opmap: m38, prefix: p66, code: 0x46, Form: rvm, Mem: Full64, w: w1, sets: evex},
	BLENDVPS:          {name: "blendvps", opmap: m3A, prefix: p66, code: 0x4a, Form: rvmr, Mem: FullMem, w: w0, sets: vex},
	BLENDVPD:          {name: "blendvpd", opmap: m3A, prefix: p66, code: 0x4b, Form: rvmr, Mem: FullMem, w: w0, sets: vex},
	BLENDMPS:          {name: "blendmps", opmap: m38, prefix: p66, code: 0x65, Form: rvm, Mem: Full32, w: w0, sets: evex},
	BLENDMPD:          {name: "blendmpd", opmap: m38, prefix: p66, code: 0x65, Form: rvm, Mem: Full64, w: w1, sets: evex},
	PTERNLOGD:         {name: "pternlogd", opmap: m3A, prefix: p66, code: 0x25, Form: rvmi, Mem: Full32, w: w0, sets: evex},
	PTERNLOGQ:         {name: "pternlogq", opmap: m3A, prefix: p66, code: 0x25, Form: rvmi, Mem: Full64, w: w1, sets: evex},
	PMOVM2D:           {name: "pmovm2d", opmap: m38, prefix: pF3, code: 0x38, Form: rm, Mem: FullMem, w: w0, sets: evex, flags: fromMask},
	PMOVM2Q:           {name: "pmovm2q", opmap: m38, prefix: pF3, code: 0x38, Form: rm, Mem: FullMem, w: w1, sets: evex, flags: fromMask},
	PMOVSXBD:          {name: "pmovsxbd", opmap: m38, prefix: p66, code: 0x21, Form: rm, Mem: quarterMem, w: w0, sets: legacy | vex | evex},
	PMOVSXWD:          {name: "pmovsxwd", opmap: m38, prefix: p66, code: 0x23, Form: rm, Mem: halfMem, w: w0, sets: legacy | vex | evex},
	PMOVSXDQ:          {name: "pmovsxdq", opmap: m38, prefix: p66, code: 0x25, Form: rm, Mem: halfMem, w: w0, sets: legacy | vex | evex},
	PMOVZXBD:          {name: "pmovzxbd", opmap: m38, prefix: p66, code: 0x31, Form: rm, Mem: quarterMem, w: w0, sets: legacy | vex | evex},
	PMOVZXWD:          {name: "pmovzxwd", opmap: m38, prefix: p66, code: 0x33, Form: rm, Mem: halfMem, w: w0, sets: legacy | vex | evex},
	PMOVDBstore:       {name: "pmovdb", opmap: m38, prefix: pF3, code: 0x31, Form: mr, Mem: quarterMem, w: w0, sets: evex},
	PMOVDWstore:       {name: "pmovdw", opmap: m38, prefix: pF3, code: 0x33, Form: mr, Mem: halfMem, w: w0, sets: evex},
	PMOVQDstore:       {name: "pmovqd", opmap: m38, prefix: pF3, code: 0x35, Form: mr, Mem: halfMem, w: w0, sets: evex},
	PSHUFB:            {name: "pshufb", opmap: m38, prefix: p66, code: 0x00, Form: rvm, Mem: FullMem, w: w0, sets: legacy | vex | evex},
	PSHUFD:            {name: "pshufd", opmap: m0F, prefix: p66, code: 0x70, Form: rmi, Mem: Full32, w: w0, sets: legacy | vex | evex},
	PERMQ:             {name: "permq", opmap: m3A, prefix: p66, code: 0x00, Form: rmi, Mem: Full64, w: w1, sets: vex | evex, flags: wide},
	PERMD:             {name: "permd", opmap: m38, prefix: p66, code: 0x36, Form: rvm, Mem: Full32, w: w0, sets: vex | evex, flags: wide},
	PERMPS:            {name: "permps", opmap: m38, prefix: p66, code: 0x16, Form: rvm, Mem: Full32, w: w0, sets: vex | evex, flags: wide},
	PERMW:             {name: "permw", opmap: m38, prefix: p66, code: 0x8d, Form: rvm, Mem: FullMem, w: w1, sets: evex},
	PERMT2PS:          {name: "permt2ps", opmap: m38, prefix: p66, code: 0x7f, Form: rvm, Mem: Full32, w: w0, sets: evex},
	PERMT2PD:          {name: "permt2pd", opmap: m38, prefix: p66, code: 0x7f, Form: rvm, Mem: Full64, w: w1, sets: evex},
	PERM2F128:         {name: "perm2f128", opmap: m3A, prefix: p66, code: 0x06, Form: rvmi, Mem: FullMem, w: w0, sets: vex, flags: wide | only256},
	SHUFF32X4:         {name: "shuff32x4", opmap: m3A, prefix: p66, code: 0x23, Form: rvmi, Mem: Full32, w: w0, sets: evex, flags: wide},
	EXTRACTF128store:  {name: "extractf128", opmap: m3A, prefix: p66, code: 0x19, Form: mri, Mem: mem16, w: w0, sets: vex, flags: only256},
	EXTRACTF32X4store: {name: "extractf32x4", opmap: m3A, prefix: p66, code: 0x19, Form: mri, Mem: mem16, w: w0, sets: evex, flags: wide},
	MASKMOVPS:         {name: "maskmovps", opmap: m38, prefix: p66, code: 0x2c, Form: rvm, Mem: FullMem, w: w0, sets: vex, flags: memOnly},
	MASKMOVPSstore:    {name: "maskmovps", opmap: m38, prefix: p66, code: 0x2e, Form: mvr, Mem: FullMem, w: w0, sets: vex, flags: memOnly},
	MASKMOVPD:         {name: "maskmovpd", opmap: m38, prefix: p66, code: 0x2d, Form: rvm, Mem: FullMem, w: w0, sets: vex, flags: memOnly},
	MASKMOVPDstore:    {name: "maskmovpd", opmap: m38, prefix: p66, code: 0x2f, Form: mvr, Mem: FullMem, w: w0, sets: vex, flags: memOnly},
	DPBF16PS:          {name: "dpbf16ps", opmap: m38, prefix: pF3, code: 0x52, Form: rvm, Mem: Full32, w: w0, sets: evex},
	PDPBUSD:           {name: "pdpbusd", opmap: m38, prefix: p66, code: 0x50, Form: rvm, Mem: Full32, w: w0, sets: vex | evex},
	PDPWSSD:           {name: "pdpwssd", opmap: m38, prefix: p66, code: 0x52, Form: rvm, Mem: Full32, w: w0, sets: vex | evex},
	MOVMSKPS:          {name: "movmskps"},
	MOVMSKPD:          {name: "movmskpd"},
}
