"""Prints losses under every optimizer and rates under every schedule: `optim_program.py torch` recorded data/optim.txt."""

import importlib
import sys
import warnings

warnings.simplefilter("ignore")
torch = importlib.import_module(sys.argv[1])
nn = importlib.import_module(sys.argv[1] + ".nn")
optim = importlib.import_module(sys.argv[1] + ".optim")
S = optim.lr_scheduler
def net():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4,8),nn.Tanh(),nn.Linear(8,1))
torch.manual_seed(1); x=torch.randn(16,4); y=x.sum(1,keepdim=True).sin()
opts=dict(
 sgd=lambda p: optim.SGD(p,0.1), sgdm=lambda p: optim.SGD(p,0.1,momentum=0.9,weight_decay=0.01), nest=lambda p: optim.SGD(p,0.1,momentum=0.9,nesterov=True,dampening=0),
 mx=lambda p: optim.SGD(p,0.01,momentum=0.5,dampening=0.1,maximize=True),
 adam=lambda p: optim.Adam(p,0.01), adamw=lambda p: optim.AdamW(p,0.01,amsgrad=True), adama=lambda p: optim.Adam(p,0.01,weight_decay=.1,amsgrad=True),
 nadam=lambda p: optim.NAdam(p), radam=lambda p: optim.RAdam(p,0.1), rms=lambda p: optim.RMSprop(p), rmsc=lambda p: optim.RMSprop(p,centered=True,momentum=.9),
 ada=lambda p: optim.Adagrad(p,lr_decay=.1), adad=lambda p: optim.Adadelta(p), adamax=lambda p: optim.Adamax(p), rprop=lambda p: optim.Rprop(p), asgd=lambda p: optim.ASGD(p,t0=2),
 lbfgs=lambda p: optim.LBFGS(p), lbw=lambda p: optim.LBFGS(p,line_search_fn='strong_wolfe'))
for n,mk in opts.items():
    m=net(); o=mk(m.parameters())
    def closure():
        o.zero_grad(); l=((m(x)-y)**2).mean(); l.backward(); return l
    ls=[]
    for i in range(10): ls.append(float(o.step(closure)))
    print(n, ' '.join('%.5f'%l for l in ls), sorted(next(iter(o.state.values())).keys()), list(o.param_groups[0].keys()))
    sd=o.state_dict(); m2=net(); o2=mk(m2.parameters()); 
    if n!='lbfgs': 
        o2.load_state_dict(sd); print(len(o2.state), sd['param_groups'][0]['params'])
print(optim.SGD(net().parameters(),0.1))
scheds=dict(
 lam=lambda o:S.LambdaLR(o,lambda e:0.9**e), mul=lambda o:S.MultiplicativeLR(o,lambda e:0.95), step=lambda o:S.StepLR(o,3), ms=lambda o:S.MultiStepLR(o,[2,5,5]), const=lambda o:S.ConstantLR(o), lin=lambda o:S.LinearLR(o),
 ex=lambda o:S.ExponentialLR(o,0.8), poly=lambda o:S.PolynomialLR(o,4,2.0), cos=lambda o:S.CosineAnnealingLR(o,4,0.01), warm=lambda o:S.CosineAnnealingWarmRestarts(o,3,2), cyc=lambda o:S.CyclicLR(o,0.01,0.1,3,4,'triangular2'), cyce=lambda o:S.CyclicLR(o,0.01,0.1,3,mode='exp_range',gamma=.9),
 one=lambda o:S.OneCycleLR(o,0.1,12), one3=lambda o:S.OneCycleLR(o,0.1,epochs=3,steps_per_epoch=4,three_phase=True,anneal_strategy='linear'),
 seq=lambda o:S.SequentialLR(o,[S.ConstantLR(o,0.1,2),S.ExponentialLR(o,0.9)],[3]), chain=lambda o:S.ChainedScheduler([S.ConstantLR(o,0.1,2),S.ExponentialLR(o,0.9)]))
for n,mk in scheds.items():
    o=optim.SGD(net().parameters(),0.1,momentum=0.9); s=mk(o); out=[]
    for i in range(11):
        o.step(); s.step(); out.append((o.param_groups[0]['lr'],o.param_groups[0]['momentum']))
    print(n,' '.join('%.6g/%.4g'%t for t in out), s.get_last_lr()==[o.param_groups[0]['lr']])
o=optim.SGD(net().parameters(),0.1); s=S.ReduceLROnPlateau(o,patience=1,verbose=False)
out=[]
for v in [1,.9,.9,.9,.9,.8,.8,.8,.8]: s.step(v); out.append('%.6g'%o.param_groups[0]['lr'])
print(out)
o=optim.Adam(net().parameters(),0.1); s=S.OneCycleLR(o,0.1,12); o.step(); s.step(); print(['%.5g'%b for b in o.param_groups[0]['betas']])
for f in [lambda: optim.SGD(net().parameters()), lambda: optim.SGD([],0.1), lambda: optim.Adam(net().parameters(),-1), lambda: optim.Adam(net().parameters(),betas=(1.0,0)), lambda: optim.SGD(torch.ones(2),0.1), lambda: optim.SGD([1],0.1), lambda: S.StepLR(3,1)]:
    try: f()
    except Exception as e: print(type(e).__name__, e)
