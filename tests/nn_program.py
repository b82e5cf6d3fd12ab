"""Prints what modules, functions and helpers of torch.nn give: `nn_program.py torch` recorded data/nn.txt."""

import importlib
import sys
import warnings

warnings.simplefilter("ignore")
name = sys.argv[1]
torch = importlib.import_module(name)
nn = importlib.import_module(name + ".nn")
F = importlib.import_module(name + ".nn.functional")
U = importlib.import_module(name + ".nn.utils")
P = importlib.import_module(name + ".nn.utils.parametrize")
PP = importlib.import_module(name + ".nn.utils.parametrizations")


def show(name,x):
    if isinstance(x,(tuple,list)):
        for i,y in enumerate(x): show(f'{name}[{i}]',y)
    elif isinstance(x,torch.Tensor): print(name,tuple(x.shape),' '.join('%.4f'%v for v in x.detach().flatten().tolist()[:6]),'%.4f'%(float(x.detach().double().sum())+1e-9))
    else: print(name,x)
torch.manual_seed(0)
x=torch.randn(2,3,8,8)
p,i=F.max_pool2d(x,2,return_indices=True)
m=nn.MaxUnpool2d(2,2); show('unpool2',m(p,i))
x1=torch.randn(1,2,8); p1,i1=F.max_pool1d(x1,2,return_indices=True); m=nn.MaxUnpool1d(2); show('unpool1',m(p1,i1))
x3=torch.randn(1,2,4,4,4); p3,i3=F.max_pool3d(x3,2,return_indices=True); show('unpool3',nn.MaxUnpool3d(2)(p3,i3)); show('amp3',nn.AdaptiveMaxPool3d(2)(x3)); show('amp3i',nn.AdaptiveMaxPool3d((1,2,2),True)(x3))
show('lp1',nn.LPPool1d(2,3)(x1)); show('lp1s',torch.jit.script(nn.LPPool1d(2,3,2))(x1))
show('unfold',nn.Unfold(3,1,1,2)(x)); show('fold',nn.Fold((8,8),2,stride=2)(nn.Unfold(2,stride=2)(x)))
a,b,c=torch.randn(4,5),torch.randn(4,5),torch.randn(4,5)
t=torch.tensor([0,2,4,1])
for w in (None, torch.rand(5)):
    show('mm',nn.MultiMarginLoss(weight=w)(a,t)); show('mls',nn.MultiLabelSoftMarginLoss(weight=w)(a,(b>0).float()))
show('mms',torch.jit.script(nn.MultiMarginLoss(2))(a,t)); show('mlss',torch.jit.script(nn.MultiLabelSoftMarginLoss())(a,(b>0).float()))
show('mlm',nn.MultiLabelMarginLoss()(a,torch.tensor([[0,1,-1,0,0]]*4)))
show('tmd',nn.TripletMarginWithDistanceLoss(distance_function=lambda x,y:1-F.cosine_similarity(x,y),swap=True)(a,b,c)); show('tmd0',nn.TripletMarginWithDistanceLoss()(a,b,c))
tr=nn.Transformer(8,2,1,1,16,0.0); show('tr',tr(torch.randn(5,2,8),torch.randn(3,2,8),tgt_mask=tr.generate_square_subsequent_mask(3)))
show('trs',torch.jit.script(tr)(torch.ones(5,2,8),torch.ones(3,2,8)))
print(len(tr.state_dict()), sorted(tr.state_dict())[:3])
show('ups',F.upsample(x,scale_factor=2.0)); show('upb',F.upsample_bilinear(x,(5,5)))
l=nn.Linear(3,2); (l(torch.ones(2,3)).sum()*10).backward()
show('clip',U.clip_grad_norm_(l.parameters(),1.0)); show('g',l.weight.grad); show('clipinf',U.clip_grad_norm_(l.parameters(),.1,float('inf'))); U.clip_grad_value_(l.parameters(),0.05); show('g2',l.weight.grad)
v=U.parameters_to_vector(l.parameters()); show('v',v); U.vector_to_parameters(v*2,l.parameters()); show('w',l.weight)
wn=U.weight_norm(nn.Linear(3,2)); show('wn',wn(torch.ones(1,3))); print(sorted(wn.state_dict()))
wn(torch.ones(1,3)).sum().backward(); show('wng',wn.weight_g.grad); show('wnv',wn.weight_v.grad); U.remove_weight_norm(wn); print(sorted(wn.state_dict()))
sn=U.spectral_norm(nn.Conv2d(2,3,2)); show('sn',sn(torch.ones(1,2,3,3))); print(sorted(sn.state_dict())); sn.eval(); show('sne',sn(torch.ones(1,2,3,3))); U.remove_spectral_norm(sn); print(sorted(sn.state_dict()))
ps=PP.spectral_norm(nn.Linear(4,3)); show('ps',ps(torch.ones(1,4))); print(sorted(ps.state_dict()), type(ps).__name__, P.is_parametrized(ps)); P.remove_parametrizations(ps,'weight'); print(type(ps).__name__, sorted(ps.state_dict()))
class Sym(nn.Module):
    def forward(self,X): return X.triu()+X.triu(1).mT
q=nn.Linear(3,3); P.register_parametrization(q,'weight',Sym()); show('sym',q.weight-q.weight.mT); print(q)
o=PP.orthogonal(nn.Linear(3,4)); print(torch.allclose(o.weight.mT@o.weight,torch.eye(3),atol=1e-5))
bn=nn.BatchNorm2d(3).eval(); bn.running_mean.normal_(); bn.running_var.uniform_(.5,2); cv=nn.Conv2d(2,3,1).eval(); f=U.fuse_conv_bn_eval(cv,bn); z=torch.randn(1,2,2,2); print(torch.allclose(f(z),bn(cv(z)),atol=1e-5))
torch.manual_seed(4); show('sparse',nn.init.sparse_(torch.empty(4,3),0.5))
