modmac:                                 // @modmac
.Lfunc_begin0:
	.file	0 "/work/main/tests/data/listing" "sample.c" md5 0xaf27e08ad6c1581e9f8856914652f29e
	.cfi_sections .debug_frame
	.cfi_startproc
// %bb.0:
	.loc	0 43 23 prologue_end            // sample.c:43:23
	{
		p0 = cmp.gt(r3,#0)
		if (!p0.new) jumpr:nt r31
		v0 = vxor(v0,v0)
	}
.LBB0_1:
	.loc	0 46 40                         // sample.c:46:40
	{
		r6 = asl(r2,#2)
		r8 = add(r4,#-1)
		r11 = memw(r0++#4)
		v6 = vmem(r1+#0)
	}
	{
		v7 = vsplat(r11)
		v1 = vsplat(r4)
		r7 = #3
		r2 = #31
	}
	.loc	0 0 0 is_stmt 0                 // sample.c:0:0
	{
		v3 = vsplat(r5)
		v2 = vsplat(r8)
		r5:4 = combine(#29,#1)
		p0 = cmp.gtu(r3,#1)
	}
.Ltmp0:
	.loc	0 13 24 is_stmt 1               // sample.c:13:24
	{
		v5:4 = vmpye(v6.w,v7.uh)
		r1 = add(r1,r6)
	}
	{
		v5:4 += vmpyo(v6.w,v7.h)
	}
	.loc	0 15 20                         // sample.c:15:20
	{
		v8.uw = vlsr(v4.uw,r5)
	}
	{
		if (!p0) jump:nt .LBB0_5
		v9.w = vasl(v5.w,r7)
	}
// %bb.2:
	{
		p0 = cmp.gtu(r3,#2)
		v5 = vor(v8,v9)
		r8 = memw(r0++#4)
		v8 = vmem(r1+#0)
	}
.Ltmp1:
	.loc	0 46 40                         // sample.c:46:40
	{
		v9 = vsplat(r8)
		r3 = add(r3,#-2)
		r1 = add(r1,r6)
	}
.Ltmp2:
	.loc	0 16 24                         // sample.c:16:24
	{
		loop0(.LBB0_3,r3)
		v11:10 = vmpye(v5.w,v3.uh)
	}
	{
		v11:10 += vmpyo(v5.w,v3.h)
	}
	.loc	0 13 24                         // sample.c:13:24
	{
		v7:6 = vmpye(v8.w,v9.uh)
	}
	.loc	0 17 20                         // sample.c:17:20
	{
		v7:6 += vmpyo(v8.w,v9.h)
		v5.uw = vlsr(v10.uw,r2)
	}
	{
		v10.w = vasl(v11.w,r4)
	}
	{
		v8.uw = vlsr(v6.uw,r5)
		v5 = vor(v5,v10)
	}
	.loc	0 15 20                         // sample.c:15:20
	{
		v9.w = vasl(v7.w,r7)
	}
	.loc	0 18 24                         // sample.c:18:24
	{
		v11:10 = vmpye(v5.w,v1.uh)
		if (!p0) jump:nt .LBB0_4
	}
	.p2align	4
.LBB0_3:                                // =>This Inner Loop Header: Depth=1
	.loc	0 15 20                         // sample.c:15:20
	{
		v11:10 += vmpyo(v5.w,v1.h)
		v8 = vor(v8,v9)
		r3 = memw(r0++#4)
		v12 = vmem(r1+#0)
	}
	.loc	0 19 20                         // sample.c:19:20
	{
		v10 = vsplat(r3)
		r1 = add(r1,r6)
		v5:4 = vcombine(v7,v6)
		v9.w = vsub(v4.w,v10.w)
	}
	.loc	0 16 24                         // sample.c:16:24
	{
		v15:14 = vmpye(v8.w,v3.uh)
		v5.w = vsub(v9.w,v1.w)
		q0 = vcmp.gt(v9.uw,v2.uw)
	}
	.loc	0 21 9                          // sample.c:21:9
	{
		v15:14 += vmpyo(v8.w,v3.h)
		v5 = vmux(q0,v5,v9)
	}
	.loc	0 22 12                         // sample.c:22:12
	{
		v7:6 = vmpye(v12.w,v10.uh)
		v8.w = vsub(v5.w,v1.w)
		q0 = vcmp.gt(v5.uw,v2.uw)
	}
	{
		v7:6 += vmpyo(v12.w,v10.h)
		v9.uw = vlsr(v14.uw,r2)
		v5 = vmux(q0,v8,v5)
	}
	.loc	0 17 20                         // sample.c:17:20
	{
		v11.w = vasl(v15.w,r4)
		v0.w = vadd(v0.w,v5.w)
	}
	{
		v8.uw = vlsr(v6.uw,r5)
		v5 = vor(v9,v11)
		v31.w = vsub(v0.w,v1.w)
		q3 = vcmp.gt(v0.uw,v2.uw)
	}
	.loc	0 15 20                         // sample.c:15:20
	{
		v9.w = vasl(v7.w,r7)
		v0 = vmux(q3,v31,v0)
	}
	.loc	0 18 24                         // sample.c:18:24
	{
		v11:10 = vmpye(v5.w,v1.uh)
		nop
	} :endloop0
.LBB0_4:
	{
		v11:10 += vmpyo(v5.w,v1.h)
	}
	.loc	0 19 20                         // sample.c:19:20
	{
		v5:4 = vcombine(v7,v6)
		v10.w = vsub(v4.w,v10.w)
	}
	.loc	0 21 9                          // sample.c:21:9
	{
		q0 = vcmp.gt(v10.uw,v2.uw)
		v5.w = vsub(v10.w,v1.w)
	}
	{
		v5 = vmux(q0,v5,v10)
	}
	.loc	0 22 12                         // sample.c:22:12
	{
		q0 = vcmp.gt(v5.uw,v2.uw)
		v6.w = vsub(v5.w,v1.w)
	}
	{
		v5 = vmux(q0,v6,v5)
	}
.Ltmp3:
	.loc	0 27 20                         // sample.c:27:20
	{
		v0.w = vadd(v0.w,v5.w)
	}
	.loc	0 29 12                         // sample.c:29:12
	{
		q3 = vcmp.gt(v0.uw,v2.uw)
		v5.w = vsub(v0.w,v1.w)
	}
	{
		v0 = vmux(q3,v5,v0)
	}
.Ltmp4:
.LBB0_5:
	.loc	0 15 20                         // sample.c:15:20
	{
		v5 = vor(v8,v9)
	}
	.loc	0 16 24                         // sample.c:16:24
	{
		v7:6 = vmpye(v5.w,v3.uh)
	}
	{
		v7:6 += vmpyo(v5.w,v3.h)
	}
	.loc	0 17 20                         // sample.c:17:20
	{
		v3.uw = vlsr(v6.uw,r2)
	}
	{
		v5.w = vasl(v7.w,r4)
	}
	{
		v3 = vor(v3,v5)
	}
	.loc	0 18 24                         // sample.c:18:24
	{
		v31:30 = vmpye(v3.w,v1.uh)
	}
	{
		v31:30 += vmpyo(v3.w,v1.h)
	}
	.loc	0 19 20                         // sample.c:19:20
	{
		v3.w = vsub(v4.w,v30.w)
	}
	.loc	0 21 9                          // sample.c:21:9
	{
		q0 = vcmp.gt(v3.uw,v2.uw)
		v4.w = vsub(v3.w,v1.w)
	}
	{
		v3 = vmux(q0,v4,v3)
	}
	.loc	0 22 12                         // sample.c:22:12
	{
		q0 = vcmp.gt(v3.uw,v2.uw)
		v4.w = vsub(v3.w,v1.w)
	}
	{
		v3 = vmux(q0,v4,v3)
	}
.Ltmp5:
	.loc	0 27 20                         // sample.c:27:20
	{
		v0.w = vadd(v0.w,v3.w)
	}
	.loc	0 29 12                         // sample.c:29:12
	{
		q3 = vcmp.gt(v0.uw,v2.uw)
		v31.w = vsub(v0.w,v1.w)
	}
	{
		v0 = vmux(q3,v31,v0)
		jumpr r31
	}
.Ltmp6:
.Lfunc_end0:
stage:                                  // @stage
.Lfunc_begin1:
	.cfi_startproc
// %bb.0:
	.loc	0 55 23 prologue_end            // sample.c:55:23
	{
		p0 = cmp.gt(r2,#0)
		if (!p0.new) jumpr:nt r31
	}
.LBB1_1:
	.loc	0 55 5 is_stmt 0                // sample.c:55:5
	{
		v0 = vsplat(r3)
		v1 = vsplat(r4)
		r6 = add(r3,#-1)
		r5 = add(r2,#31)
	}
	{
		r2 = addasl(r0,r2,#2)
		v2 = vsplat(r6)
		r3 = #29
		r6 = #1
	}
	{
		r7 = lsr(r5,#5)
		r5:4 = combine(#31,#3)
	}
	{
		loop0(.LBB1_2,r7)
	}
	.p2align	4
.LBB1_2:                                // Block address taken
                                        // =>This Inner Loop Header: Depth=1
	.loc	0 57 32 is_stmt 1               // sample.c:57:32
	{
		v3 = vmem(r2+#0)
	}
	.loc	0 57 36 is_stmt 0               // sample.c:57:36
	{
		v7:6 = vmpye(v3.w,v4.uh)
		v4.cur = vmem(r1++#1)
	}
	.loc	0 57 84                         // sample.c:57:84
	{
		v28 = vmem(r0+#0)
	}
.Ltmp7:
	.loc	0 13 24 is_stmt 1               // sample.c:13:24
	{
		v7:6 += vmpyo(v3.w,v4.h)
	}
	.loc	0 15 20                         // sample.c:15:20
	{
		v3.uw = vlsr(v6.uw,r3)
	}
	{
		v4.w = vasl(v7.w,r4)
	}
	{
		v3 = vor(v3,v4)
	}
	.loc	0 16 24                         // sample.c:16:24
	{
		v5:4 = vmpye(v3.w,v1.uh)
	}
	{
		v5:4 += vmpyo(v3.w,v1.h)
	}
	.loc	0 17 20                         // sample.c:17:20
	{
		v3.uw = vlsr(v4.uw,r5)
	}
	{
		v27.w = vasl(v5.w,r6)
	}
	{
		v3 = vor(v3,v27)
	}
	.loc	0 18 24                         // sample.c:18:24
	{
		v5:4 = vmpye(v3.w,v0.uh)
	}
	{
		v5:4 += vmpyo(v3.w,v0.h)
	}
	.loc	0 19 20                         // sample.c:19:20
	{
		v3.w = vsub(v6.w,v4.w)
	}
	.loc	0 21 9                          // sample.c:21:9
	{
		q0 = vcmp.gt(v3.uw,v2.uw)
		v4.w = vsub(v3.w,v0.w)
	}
	{
		v3 = vmux(q0,v4,v3)
	}
	.loc	0 22 12                         // sample.c:22:12
	{
		q0 = vcmp.gt(v3.uw,v2.uw)
		v4.w = vsub(v3.w,v0.w)
	}
	{
		v3 = vmux(q0,v4,v3)
	}
.Ltmp8:
	.loc	0 27 20                         // sample.c:27:20
	{
		v5.w = vadd(v28.w,v3.w)
		v29.w = vsub(v28.w,v3.w)
		q1 = vcmp.gt(v3.uw,v28.uw)
	}
	.loc	0 29 12                         // sample.c:29:12
	{
		q3 = vcmp.gt(v5.uw,v2.uw)
		v30.w = vsub(v5.w,v0.w)
		v3.w = vadd(v29.w,v0.w)
	}
	{
		v31 = vmux(q3,v30,v5)
		v3 = vmux(q1,v3,v29)
		vmem(r0++#1) = v31.new
	}
.Ltmp9:
	.loc	0 60 12                         // sample.c:60:12
	{
		nop
		vmem(r2++#1) = v3
	} :endloop0
// %bb.3:
	.loc	0 62 1                          // sample.c:62:1
	{
		jumpr r31
	}
.Ltmp10:
.Lfunc_end1:
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
