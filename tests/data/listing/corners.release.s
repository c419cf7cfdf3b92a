// Written by hand for test_listing.c: one packet for each thing that an operand can be (operands), and loops whose blocks
// the compiler has moved (nest).
	.text
operands:                               // @operands
.Lfunc_begin0:
	.cfi_startproc
// %bb.0:
	.loc	1 10 5 prologue_end             // corners.c:10:5
	{
		r1:0 = memd(r2+#0)
		r6 = memw(r3+#0)
		r2 = vextract(v0,r3)
	}
	{
		r3 = add(r1,#1)
		r4 = memw(r2++#4)
	}
	{
		r5 = mpyi(r0,r4)
	}
	{
		r6 = add(r2,r5)
		memw(r2+#0) = r6.new
	}
	{
		r5 += sfmpy(r3,r6):lib
	}
	{
		r7,p1 = sfrecipa(r5,r6)
	}
	{
		if (p1) r8 = add(r7,#1)
	}
	{
		v2.w = vadd(v0.w,v3.w)
		v1 = vsplat(r4)
		v0.cur = vmem(r2++#1)
	}
	{
		v5:4 = vmpye(v2.w,v0.uh)
		v7 = vor(v6,v1)
		v6.tmp = vmem(r2+#1)
	}
	{
		v8.w = vadd(v4.w,v6.w,q0):carry
	}
	{
		if (q0) vmem(r2+#0) = v3
	}
	{
		vshuff(v9,v10,r4)
	}                                       // 4-byte Folded Spill
	{
		v11 = v10
	}
	{
		vmem(r2+#2) = v9
	}
	{
		call helper
		memw(r29+#0) = r2
	}
	{
		v12 = vor(v8,v11)
	}
	{
		r9 = memw(##table)
	}
	{
		r9 = insert(r10,#31,#0)
	}
.Ltmp0:
	.loc	1 0 5 is_stmt 0                 // corners.c:0:5
	{
		p0 = cmp.gt(r9,#0); if (p0.new) jump:nt .LBB0_1
		if (cmp.gt(r8.new,r5)) jump:nt .LBB0_1
	}
.LBB0_1:
	{
		jumpr r31
	}
.Lfunc_end0:
	.size	operands, .Lfunc_end0-operands
                                        // -- End function
nest:                                   // @nest
// %bb.0:
	.loc	1 20 5                          // corners.c:20:5
	{
		r5 = memw(r0+#0)
		r3 = r1
	}
	{
		r4 = add(r3,#-1)
	}
	{
		r4 = add(r4,#-1)
		v1 = vmem(r2++#1)
	}
	{
		loop0(.LBB1_4,r4)
		v2.w = vadd(v1.w,v1.w)
		v1 = vmem(r2++#1)
	}
	.p2align	4
.LBB1_4:                                // Block address taken
                                        // =>This Inner Loop Header: Depth=1
	.loc	1 30 5                          // corners.c:30:5
	{
		v0.w = vmax(v0.w,v2.w)
		v2.w = vadd(v1.w,v1.w)
		v5:4 = vcombine(v2,v1)
		v1 = vmem(r2++#1)
	} :endloop0
// %bb.5:
	{
		v0.w = vmax(v0.w,v2.w)
		v2.w = vadd(v1.w,v1.w)
	}
	{
		v0.w = vmax(v0.w,v2.w)
		jump .LBB1_2
	}
.LBB1_3:                                //   in Loop: Header=BB1_2 Depth=1
	.loc	1 25 5                          // corners.c:25:5
	{
		r6 = add(r5,r7)
	}
	{
		r5 = memw(r0++#4)
		p0 = cmp.gt(r6,#0); if (!p0.new) jump:t .LBB1_6
	}
.LBB1_2:                                // =>This Loop Header: Depth=1
                                        //     Child Loop BB1_1 Depth 2
	.loc	1 22 5                          // corners.c:22:5
	{
		r7 = mpyi(r5,r6)
	}
	{
		loop0(.LBB1_1,r7)
	}
.LBB1_1:                                //   Parent Loop BB1_2 Depth=1
                                        // =>  This Inner Loop Header: Depth=2
	.loc	1 23 9                          // corners.c:23:9
	{
		r8 = memub(r1++#1)
	}
	{
		r9 += mpyi(r8,#3)
	} :endloop0
// %bb.7:                               //   in Loop: Header=BB1_2 Depth=1
	{
		jump .LBB1_3
	}
.LBB1_6:
	{
		jumpr r31
	}
.Lfunc_end1:
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
