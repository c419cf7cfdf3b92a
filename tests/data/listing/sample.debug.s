modmac:                                 // @modmac
.Lfunc_begin0:
	.file	0 "/work/main/tests/data/listing" "sample.c" md5 0xaf27e08ad6c1581e9f8856914652f29e
	.loc	0 40 0                          // sample.c:40:0
	.cfi_sections .debug_frame
	.cfi_startproc
// %bb.0:
	{
		allocframe(r29,#4096):raw
	}
	.cfi_def_cfa r30, 8
	.cfi_offset r31, -4
	.cfi_offset r30, -8
	{
		r29 = and(r29,#-256)
	}
	{
		memw(r29+#1020) = r0
	}
	{
		memw(r29+#1016) = r1
	}
	{
		memw(r29+#1012) = r2
	}
	{
		memw(r29+#1008) = r3
	}
	{
		memw(r29+#1004) = r4
	}
	{
		memw(r29+#1000) = r5
	}
.Ltmp1:
	.loc	0 41 21 prologue_end            // sample.c:41:21
	{
		r0 = memw(r29+#1004)
	}
	{
		v0 = vsplat(r0)
	}
	.loc	0 41 16 is_stmt 0               // sample.c:41:16
	{
		vmem(r29+#6) = v0
	}
	.loc	0 41 45                         // sample.c:41:45
	{
		r0 = memw(r29+#1004)
	}
	{
		r0 = add(r0,#-1)
	}
	{
		v0 = vsplat(r0)
	}
	.loc	0 41 39                         // sample.c:41:39
	{
		vmem(r29+#5) = v0
	}
	.loc	0 41 72                         // sample.c:41:72
	{
		r0 = memw(r29+#1000)
	}
	{
		v0 = vsplat(r0)
	}
	.loc	0 41 67                         // sample.c:41:67
	{
		vmem(r29+#4) = v0
	}
	.loc	0 41 97                         // sample.c:41:97
	{
		v0 = vxor(v0,v0)
	}
	.loc	0 41 91                         // sample.c:41:91
	{
		vmem(r29+#3) = v0
	}
	.loc	0 43 14 is_stmt 1               // sample.c:43:14
	{
		r0 = #0
	}
	{
		memw(r29+#380) = r0
	}
	.loc	0 43 10 is_stmt 0               // sample.c:43:10
	{
		jump .LBB0_1
	}
.LBB0_1:                                // =>This Inner Loop Header: Depth=1
	.loc	0 43 21                         // sample.c:43:21
	{
		r1 = memw(r29+#380)
	}
	.loc	0 43 25                         // sample.c:43:25
	{
		r0 = memw(r29+#1008)
	}
	.loc	0 43 23                         // sample.c:43:23
	{
		p0 = cmp.gt(r0,r1)
	}
	{
		p0 = not(p0)
	}
	.loc	0 43 5                          // sample.c:43:5
	{
		if (p0) jump:nt .LBB0_4
	}
	{
		jump .LBB0_2
	}
.LBB0_2:                                //   in Loop: Header=BB0_1 Depth=1
	.loc	0 44 48 is_stmt 1               // sample.c:44:48
	{
		r0 = memw(r29+#1016)
	}
	.loc	0 44 52 is_stmt 0               // sample.c:44:52
	{
		r1 = memw(r29+#380)
	}
	.loc	0 44 56                         // sample.c:44:56
	{
		r2 = memw(r29+#1012)
	}
	.loc	0 44 54                         // sample.c:44:54
	{
		r1 = mpyi(r1,r2)
	}
	.loc	0 44 50                         // sample.c:44:50
	{
		r0 = addasl(r0,r1,#2)
	}
	.loc	0 44 26                         // sample.c:44:26
	{
		v0 = vmem(r0+#0)
	}
	.loc	0 44 20                         // sample.c:44:20
	{
		vmem(r29+#1) = v0
	}
	.loc	0 46 22 is_stmt 1               // sample.c:46:22
	{
		v3 = vmem(r29+#3)
	}
	.loc	0 46 35 is_stmt 0               // sample.c:46:35
	{
		v5 = vmem(r29+#1)
	}
	.loc	0 46 40                         // sample.c:46:40
	{
		r0 = memw(r29+#1020)
	}
	{
		r1 = memw(r29+#380)
	}
	{
		r0 = memw(r0+r1<<#2)
	}
	{
		v4 = vsplat(r0)
	}
	.loc	0 46 61                         // sample.c:46:61
	{
		v2 = vmem(r29+#6)
	}
	.loc	0 46 65                         // sample.c:46:65
	{
		v1 = vmem(r29+#5)
	}
	.loc	0 46 70                         // sample.c:46:70
	{
		v0 = vmem(r29+#4)
	}
	{
		r0 = add(r29,#4096)
	}
	{
		vmem(r0+#-1) = v5
	}
	{
		r0 = add(r29,#4096)
	}
	{
		vmem(r0+#-2) = v4
	}
	{
		r0 = add(r29,#4096)
	}
	{
		vmem(r0+#-3) = v2
	}
	{
		r0 = add(r29,#4096)
	}
	{
		vmem(r0+#-4) = v1
	}
	{
		r0 = add(r29,#4096)
	}
	{
		vmem(r0+#-5) = v0
	}
.Ltmp2:
	.loc	0 13 24 is_stmt 1               // sample.c:13:24
	{
		r0 = add(r29,#4096)
	}
	{
		v2 = vmem(r0+#-1)
	}
	{
		r0 = add(r29,#4096)
	}
	{
		v4 = vmem(r0+#-2)
	}
	{
		v1:0 = vmpye(v2.w,v4.uh)
	}
	{
		v1:0 += vmpyo(v2.w,v4.h)
	}
	.loc	0 13 20 is_stmt 0               // sample.c:13:20
	{
		v2 = v1
	}
	{
		r0 = add(r29,#4096)
	}
	{
		vmem(r0+#-7) = v2
	}
	{
		r0 = add(r29,#4096)
	}
	{
		vmem(r0+#-8) = v0
	}
	.loc	0 14 21 is_stmt 1               // sample.c:14:21
	{
		r0 = add(r29,#4096)
	}
	{
		v2 = vmem(r0+#-8)
	}
	{
		r0 = add(r29,#4096)
	}
	{
		v1 = vmem(r0+#-7)
	}
	{
		v0 = v2
	}
	.loc	0 14 16 is_stmt 0               // sample.c:14:16
	{
		r0 = add(r29,#2048)
	}
	{
		vmem(r0+#7) = v0
	}
	.loc	0 14 40                         // sample.c:14:40
	{
		r0 = add(r29,#4096)
	}
	{
		v2 = vmem(r0+#-8)
	}
	{
		r0 = add(r29,#4096)
	}
	{
		v1 = vmem(r0+#-7)
	}
	{
		v0 = v2
	}
	{
		v0 = v1
	}
	.loc	0 14 35                         // sample.c:14:35
	{
		r0 = add(r29,#2048)
	}
	{
		vmem(r0+#6) = v0
	}
	.loc	0 15 20 is_stmt 1               // sample.c:15:20
	{
		r0 = add(r29,#2048)
	}
	{
		v0 = vmem(r0+#7)
	}
	{
		r0 = #29
	}
	{
		v0.uw = vlsr(v0.uw,r0)
	}
	{
		r0 = add(r29,#2048)
	}
	{
		v1 = vmem(r0+#6)
	}
	{
		r0 = #3
	}
	{
		v1.w = vasl(v1.w,r0)
	}
	{
		v0 = vor(v0,v1)
	}
	.loc	0 15 16 is_stmt 0               // sample.c:15:16
	{
		r0 = add(r29,#2048)
	}
	{
		vmem(r0+#5) = v0
	}
	.loc	0 16 24 is_stmt 1               // sample.c:16:24
	{
		r0 = add(r29,#2048)
	}
	{
		v2 = vmem(r0+#5)
	}
	{
		r0 = add(r29,#4096)
	}
	{
		v4 = vmem(r0+#-5)
	}
	{
		v1:0 = vmpye(v2.w,v4.uh)
	}
	{
		v1:0 += vmpyo(v2.w,v4.h)
	}
	.loc	0 16 20 is_stmt 0               // sample.c:16:20
	{
		v2 = v1
	}
	{
		r0 = add(r29,#2048)
	}
	{
		vmem(r0+#3) = v2
	}
	{
		r0 = add(r29,#2048)
	}
	{
		vmem(r0+#2) = v0
	}
	.loc	0 17 20 is_stmt 1               // sample.c:17:20
	{
		r0 = add(r29,#2048)
	}
	{
		v0 = vmem(r0+#2)
	}
	{
		r0 = add(r29,#2048)
	}
	{
		v5 = vmem(r0+#3)
	}
	{
		v4 = v0
	}
	{
		v0 = v4
	}
	{
		r0 = #31
	}
	{
		v0.uw = vlsr(v0.uw,r0)
	}
	{
		v1 = v5
	}
	{
		r0 = #1
	}
	{
		v1.w = vasl(v1.w,r0)
	}
	{
		v0 = vor(v0,v1)
	}
	.loc	0 17 16 is_stmt 0               // sample.c:17:16
	{
		r0 = add(r29,#2048)
	}
	{
		vmem(r0+#1) = v0
	}
	.loc	0 18 24 is_stmt 1               // sample.c:18:24
	{
		r0 = add(r29,#2048)
	}
	{
		v2 = vmem(r0+#1)
	}
	{
		r0 = add(r29,#4096)
	}
	{
		v4 = vmem(r0+#-3)
	}
	{
		v1:0 = vmpye(v2.w,v4.uh)
	}
	{
		v1:0 += vmpyo(v2.w,v4.h)
	}
	.loc	0 18 20 is_stmt 0               // sample.c:18:20
	{
		v2 = v1
	}
	{
		r0 = add(r29,#2048)
	}
	{
		vmem(r0+#-1) = v2
	}
	{
		r0 = add(r29,#2048)
	}
	{
		vmem(r0+#-2) = v0
	}
	.loc	0 19 20 is_stmt 1               // sample.c:19:20
	{
		r0 = add(r29,#2048)
	}
	{
		v0 = vmem(r0+#7)
	}
	{
		r0 = add(r29,#2048)
	}
	{
		v1 = vmem(r0+#-2)
	}
	{
		r0 = add(r29,#2048)
	}
	{
		v5 = vmem(r0+#-1)
	}
	{
		v4 = v1
	}
	{
		v1 = v4
	}
	{
		v0.w = vsub(v0.w,v1.w)
	}
	.loc	0 19 16 is_stmt 0               // sample.c:19:16
	{
		r0 = add(r29,#2048)
	}
	{
		vmem(r0+#-3) = v0
	}
	.loc	0 21 9 is_stmt 1                // sample.c:21:9
	{
		r0 = add(r29,#2048)
	}
	{
		v1 = vmem(r0+#-3)
	}
	{
		r0 = add(r29,#4096)
	}
	{
		v0 = vmem(r0+#-4)
	}
	{
		q0 = vcmp.gt(v1.uw,v0.uw)
	}
	{
		r0 = #-1
	}
	{
		v0 = vand(q0,r0)
	}
	{
		q0 = vand(v0,r0)
	}
	{
		r1 = add(r29,#4096)
	}
	{
		v0 = vmem(r1+#-3)
	}
	{
		v0.w = vsub(v1.w,v0.w)
	}
	{
		v0 = vmux(q0,v0,v1)
	}
	.loc	0 21 7 is_stmt 0                // sample.c:21:7
	{
		r1 = add(r29,#2048)
	}
	{
		vmem(r1+#-3) = v0
	}
	.loc	0 22 12 is_stmt 1               // sample.c:22:12
	{
		r1 = add(r29,#2048)
	}
	{
		v1 = vmem(r1+#-3)
	}
	{
		r1 = add(r29,#4096)
	}
	{
		v0 = vmem(r1+#-4)
	}
	{
		q0 = vcmp.gt(v1.uw,v0.uw)
	}
	{
		v0 = vand(q0,r0)
	}
	{
		q0 = vand(v0,r0)
	}
	{
		r1 = add(r29,#4096)
	}
	{
		v0 = vmem(r1+#-3)
	}
	{
		v0.w = vsub(v1.w,v0.w)
	}
	{
		v2 = vmux(q0,v0,v1)
	}
.Ltmp3:
	.loc	0 46 75                         // sample.c:46:75
	{
		v1 = vmem(r29+#6)
	}
	.loc	0 46 79 is_stmt 0               // sample.c:46:79
	{
		v0 = vmem(r29+#5)
	}
	{
		r1 = add(r29,#2048)
	}
	{
		vmem(r1+#-4) = v3
	}
	{
		r1 = add(r29,#2048)
	}
	{
		vmem(r1+#-5) = v2
	}
	{
		r1 = add(r29,#2048)
	}
	{
		vmem(r1+#-6) = v1
	}
	{
		r1 = add(r29,#2048)
	}
	{
		vmem(r1+#-7) = v0
	}
.Ltmp4:
	.loc	0 27 20 is_stmt 1               // sample.c:27:20
	{
		r1 = add(r29,#2048)
	}
	{
		v0 = vmem(r1+#-4)
	}
	{
		r1 = add(r29,#2048)
	}
	{
		v1 = vmem(r1+#-5)
	}
	{
		v0.w = vadd(v0.w,v1.w)
	}
	.loc	0 27 16 is_stmt 0               // sample.c:27:16
	{
		r1 = add(r29,#2048)
	}
	{
		vmem(r1+#-8) = v0
	}
	.loc	0 29 12 is_stmt 1               // sample.c:29:12
	{
		r1 = add(r29,#2048)
	}
	{
		v1 = vmem(r1+#-8)
	}
	{
		r1 = add(r29,#2048)
	}
	{
		v0 = vmem(r1+#-7)
	}
	{
		q0 = vcmp.gt(v1.uw,v0.uw)
	}
	{
		v0 = vand(q0,r0)
	}
	{
		q0 = vand(v0,r0)
	}
	{
		r0 = add(r29,#2048)
	}
	{
		v0 = vmem(r0+#-6)
	}
	{
		v0.w = vsub(v1.w,v0.w)
	}
	{
		v0 = vmux(q0,v0,v1)
	}
.Ltmp5:
	.loc	0 46 13                         // sample.c:46:13
	{
		vmem(r29+#3) = v0
	}
	.loc	0 47 5                          // sample.c:47:5
	{
		jump .LBB0_3
	}
.LBB0_3:                                //   in Loop: Header=BB0_1 Depth=1
	.loc	0 43 29                         // sample.c:43:29
	{
		r0 = memw(r29+#380)
	}
	{
		r0 = add(r0,#1)
	}
	{
		memw(r29+#380) = r0
	}
	.loc	0 43 5 is_stmt 0                // sample.c:43:5
	{
		jump .LBB0_1
	}
.LBB0_4:
	.loc	0 48 12 is_stmt 1               // sample.c:48:12
	{
		v0 = vmem(r29+#3)
	}
	.loc	0 48 5 is_stmt 0                // sample.c:48:5
	{
		r31:30 = dealloc_return(r30):raw
	}
.Ltmp6:
.Lfunc_end0:
stage:                                  // @stage
.Lfunc_begin1:
	.loc	0 52 0 is_stmt 1                // sample.c:52:0
	.cfi_startproc
// %bb.0:
	{
		allocframe(r29,#4608):raw
	}
	.cfi_def_cfa r30, 8
	.cfi_offset r31, -4
	.cfi_offset r30, -8
	{
		r29 = and(r29,#-256)
	}
	{
		memw(r29+#1020) = r0
	}
	{
		memw(r29+#1016) = r1
	}
	{
		memw(r29+#1012) = r2
	}
	{
		memw(r29+#1008) = r3
	}
	{
		memw(r29+#1004) = r4
	}
.Ltmp8:
	.loc	0 53 21 prologue_end            // sample.c:53:21
	{
		r0 = memw(r29+#1008)
	}
	{
		v0 = vsplat(r0)
	}
	.loc	0 53 16 is_stmt 0               // sample.c:53:16
	{
		vmem(r29+#6) = v0
	}
	.loc	0 53 45                         // sample.c:53:45
	{
		r0 = memw(r29+#1008)
	}
	{
		r0 = add(r0,#-1)
	}
	{
		v0 = vsplat(r0)
	}
	.loc	0 53 39                         // sample.c:53:39
	{
		vmem(r29+#5) = v0
	}
	.loc	0 53 72                         // sample.c:53:72
	{
		r0 = memw(r29+#1004)
	}
	{
		v0 = vsplat(r0)
	}
	.loc	0 53 67                         // sample.c:53:67
	{
		vmem(r29+#4) = v0
	}
	.loc	0 55 14 is_stmt 1               // sample.c:55:14
	{
		r0 = #0
	}
	{
		memw(r29+#508) = r0
	}
	.loc	0 55 10 is_stmt 0               // sample.c:55:10
	{
		jump .LBB1_1
	}
.LBB1_1:                                // =>This Inner Loop Header: Depth=1
	.loc	0 55 21                         // sample.c:55:21
	{
		r1 = memw(r29+#508)
	}
	.loc	0 55 25                         // sample.c:55:25
	{
		r0 = memw(r29+#1012)
	}
	.loc	0 55 23                         // sample.c:55:23
	{
		p0 = cmp.gt(r0,r1)
	}
	{
		p0 = not(p0)
	}
	.loc	0 55 5                          // sample.c:55:5
	{
		if (p0) jump:nt .LBB1_4
	}
	{
		jump .LBB1_2
	}
.LBB1_2:                                //   in Loop: Header=BB1_1 Depth=1
	.loc	0 56 40 is_stmt 1               // sample.c:56:40
	{
		r0 = memw(r29+#1020)
	}
	.loc	0 56 44 is_stmt 0               // sample.c:56:44
	{
		r1 = memw(r29+#508)
	}
	.loc	0 56 42                         // sample.c:56:42
	{
		r0 = addasl(r0,r1,#2)
	}
	.loc	0 56 21                         // sample.c:56:21
	{
		memw(r29+#504) = r0
	}
	.loc	0 56 68                         // sample.c:56:68
	{
		r0 = memw(r29+#1020)
	}
	.loc	0 56 72                         // sample.c:56:72
	{
		r1 = memw(r29+#508)
	}
	.loc	0 56 70                         // sample.c:56:70
	{
		r0 = addasl(r0,r1,#2)
	}
	.loc	0 56 76                         // sample.c:56:76
	{
		r1 = memw(r29+#1012)
	}
	.loc	0 56 74                         // sample.c:56:74
	{
		r0 = addasl(r0,r1,#2)
	}
	.loc	0 56 49                         // sample.c:56:49
	{
		memw(r29+#500) = r0
	}
	.loc	0 57 33 is_stmt 1               // sample.c:57:33
	{
		r0 = memw(r29+#500)
	}
	.loc	0 57 32 is_stmt 0               // sample.c:57:32
	{
		v4 = vmem(r0+#0)
	}
	.loc	0 57 58                         // sample.c:57:58
	{
		r0 = memw(r29+#1016)
	}
	.loc	0 57 62                         // sample.c:57:62
	{
		r1 = memw(r29+#508)
	}
	.loc	0 57 60                         // sample.c:57:60
	{
		r0 = addasl(r0,r1,#2)
	}
	.loc	0 57 36                         // sample.c:57:36
	{
		v3 = vmem(r0+#0)
	}
	.loc	0 57 66                         // sample.c:57:66
	{
		v2 = vmem(r29+#6)
	}
	.loc	0 57 70                         // sample.c:57:70
	{
		v1 = vmem(r29+#5)
	}
	.loc	0 57 75                         // sample.c:57:75
	{
		v0 = vmem(r29+#4)
	}
	{
		r0 = add(r29,#4096)
	}
	{
		vmem(r0+#-1) = v4
	}
	{
		r0 = add(r29,#4096)
	}
	{
		vmem(r0+#-2) = v3
	}
	{
		r0 = add(r29,#4096)
	}
	{
		vmem(r0+#-3) = v2
	}
	{
		r0 = add(r29,#4096)
	}
	{
		vmem(r0+#-4) = v1
	}
	{
		r0 = add(r29,#4096)
	}
	{
		vmem(r0+#-5) = v0
	}
.Ltmp9:
	.loc	0 13 24 is_stmt 1               // sample.c:13:24
	{
		r0 = add(r29,#4096)
	}
	{
		v2 = vmem(r0+#-1)
	}
	{
		r0 = add(r29,#4096)
	}
	{
		v3 = vmem(r0+#-2)
	}
	{
		v1:0 = vmpye(v2.w,v3.uh)
	}
	{
		v1:0 += vmpyo(v2.w,v3.h)
	}
	.loc	0 13 20 is_stmt 0               // sample.c:13:20
	{
		v2 = v1
	}
	{
		r0 = add(r29,#4096)
	}
	{
		vmem(r0+#-7) = v2
	}
	{
		r0 = add(r29,#4096)
	}
	{
		vmem(r0+#-8) = v0
	}
	.loc	0 14 21 is_stmt 1               // sample.c:14:21
	{
		r0 = add(r29,#4096)
	}
	{
		v2 = vmem(r0+#-8)
	}
	{
		r0 = add(r29,#4096)
	}
	{
		v1 = vmem(r0+#-7)
	}
	{
		v0 = v2
	}
	.loc	0 14 16 is_stmt 0               // sample.c:14:16
	{
		r0 = add(r29,#2048)
	}
	{
		vmem(r0+#7) = v0
	}
	.loc	0 14 40                         // sample.c:14:40
	{
		r0 = add(r29,#4096)
	}
	{
		v2 = vmem(r0+#-8)
	}
	{
		r0 = add(r29,#4096)
	}
	{
		v1 = vmem(r0+#-7)
	}
	{
		v0 = v2
	}
	{
		v0 = v1
	}
	.loc	0 14 35                         // sample.c:14:35
	{
		r0 = add(r29,#2048)
	}
	{
		vmem(r0+#6) = v0
	}
	.loc	0 15 20 is_stmt 1               // sample.c:15:20
	{
		r0 = add(r29,#2048)
	}
	{
		v0 = vmem(r0+#7)
	}
	{
		r0 = #29
	}
	{
		v0.uw = vlsr(v0.uw,r0)
	}
	{
		r0 = add(r29,#2048)
	}
	{
		v1 = vmem(r0+#6)
	}
	{
		r0 = #3
	}
	{
		v1.w = vasl(v1.w,r0)
	}
	{
		v0 = vor(v0,v1)
	}
	.loc	0 15 16 is_stmt 0               // sample.c:15:16
	{
		r0 = add(r29,#2048)
	}
	{
		vmem(r0+#5) = v0
	}
	.loc	0 16 24 is_stmt 1               // sample.c:16:24
	{
		r0 = add(r29,#2048)
	}
	{
		v2 = vmem(r0+#5)
	}
	{
		r0 = add(r29,#4096)
	}
	{
		v3 = vmem(r0+#-5)
	}
	{
		v1:0 = vmpye(v2.w,v3.uh)
	}
	{
		v1:0 += vmpyo(v2.w,v3.h)
	}
	.loc	0 16 20 is_stmt 0               // sample.c:16:20
	{
		v2 = v1
	}
	{
		r0 = add(r29,#2048)
	}
	{
		vmem(r0+#3) = v2
	}
	{
		r0 = add(r29,#2048)
	}
	{
		vmem(r0+#2) = v0
	}
	.loc	0 17 20 is_stmt 1               // sample.c:17:20
	{
		r0 = add(r29,#2048)
	}
	{
		v0 = vmem(r0+#2)
	}
	{
		r0 = add(r29,#2048)
	}
	{
		v3 = vmem(r0+#3)
	}
	{
		v2 = v0
	}
	{
		v0 = v2
	}
	{
		r0 = #31
	}
	{
		v0.uw = vlsr(v0.uw,r0)
	}
	{
		v1 = v3
	}
	{
		r0 = #1
	}
	{
		v1.w = vasl(v1.w,r0)
	}
	{
		v0 = vor(v0,v1)
	}
	.loc	0 17 16 is_stmt 0               // sample.c:17:16
	{
		r0 = add(r29,#2048)
	}
	{
		vmem(r0+#1) = v0
	}
	.loc	0 18 24 is_stmt 1               // sample.c:18:24
	{
		r0 = add(r29,#2048)
	}
	{
		v2 = vmem(r0+#1)
	}
	{
		r0 = add(r29,#4096)
	}
	{
		v3 = vmem(r0+#-3)
	}
	{
		v1:0 = vmpye(v2.w,v3.uh)
	}
	{
		v1:0 += vmpyo(v2.w,v3.h)
	}
	.loc	0 18 20 is_stmt 0               // sample.c:18:20
	{
		v2 = v1
	}
	{
		r0 = add(r29,#2048)
	}
	{
		vmem(r0+#-1) = v2
	}
	{
		r0 = add(r29,#2048)
	}
	{
		vmem(r0+#-2) = v0
	}
	.loc	0 19 20 is_stmt 1               // sample.c:19:20
	{
		r0 = add(r29,#2048)
	}
	{
		v0 = vmem(r0+#7)
	}
	{
		r0 = add(r29,#2048)
	}
	{
		v1 = vmem(r0+#-2)
	}
	{
		r0 = add(r29,#2048)
	}
	{
		v3 = vmem(r0+#-1)
	}
	{
		v2 = v1
	}
	{
		v1 = v2
	}
	{
		v0.w = vsub(v0.w,v1.w)
	}
	.loc	0 19 16 is_stmt 0               // sample.c:19:16
	{
		r0 = add(r29,#2048)
	}
	{
		vmem(r0+#-3) = v0
	}
	.loc	0 21 9 is_stmt 1                // sample.c:21:9
	{
		r0 = add(r29,#2048)
	}
	{
		v1 = vmem(r0+#-3)
	}
	{
		r0 = add(r29,#4096)
	}
	{
		v0 = vmem(r0+#-4)
	}
	{
		q0 = vcmp.gt(v1.uw,v0.uw)
	}
	{
		r0 = #-1
	}
	{
		memw(r29+#124) = r0
	}                                       // 4-byte Folded Spill
	{
		v0 = vand(q0,r0)
	}
	{
		q0 = vand(v0,r0)
	}
	{
		r1 = add(r29,#4096)
	}
	{
		v0 = vmem(r1+#-3)
	}
	{
		v0.w = vsub(v1.w,v0.w)
	}
	{
		v0 = vmux(q0,v0,v1)
	}
	.loc	0 21 7 is_stmt 0                // sample.c:21:7
	{
		r1 = add(r29,#2048)
	}
	{
		vmem(r1+#-3) = v0
	}
	.loc	0 22 12 is_stmt 1               // sample.c:22:12
	{
		r1 = add(r29,#2048)
	}
	{
		v1 = vmem(r1+#-3)
	}
	{
		r1 = add(r29,#4096)
	}
	{
		v0 = vmem(r1+#-4)
	}
	{
		q0 = vcmp.gt(v1.uw,v0.uw)
	}
	{
		v0 = vand(q0,r0)
	}
	{
		q0 = vand(v0,r0)
	}
	{
		r1 = add(r29,#4096)
	}
	{
		v0 = vmem(r1+#-3)
	}
	{
		v0.w = vsub(v1.w,v0.w)
	}
	{
		v0 = vmux(q0,v0,v1)
	}
.Ltmp10:
	.loc	0 57 20                         // sample.c:57:20
	{
		vmem(r29+#2) = v0
	}
	.loc	0 57 85 is_stmt 0               // sample.c:57:85
	{
		r1 = memw(r29+#504)
	}
	.loc	0 57 84                         // sample.c:57:84
	{
		v0 = vmem(r1+#0)
	}
	.loc	0 57 80                         // sample.c:57:80
	{
		vmem(r29+#1) = v0
	}
	.loc	0 59 21 is_stmt 1               // sample.c:59:21
	{
		v3 = vmem(r29+#1)
	}
	.loc	0 59 24 is_stmt 0               // sample.c:59:24
	{
		v2 = vmem(r29+#2)
	}
	.loc	0 59 27                         // sample.c:59:27
	{
		v1 = vmem(r29+#6)
	}
	.loc	0 59 31                         // sample.c:59:31
	{
		v0 = vmem(r29+#5)
	}
	{
		r1 = add(r29,#2048)
	}
	{
		vmem(r1+#-4) = v3
	}
	{
		r1 = add(r29,#2048)
	}
	{
		vmem(r1+#-5) = v2
	}
	{
		r1 = add(r29,#2048)
	}
	{
		vmem(r1+#-6) = v1
	}
	{
		r1 = add(r29,#2048)
	}
	{
		vmem(r1+#-7) = v0
	}
.Ltmp11:
	.loc	0 27 20 is_stmt 1               // sample.c:27:20
	{
		r1 = add(r29,#2048)
	}
	{
		v0 = vmem(r1+#-4)
	}
	{
		r1 = add(r29,#2048)
	}
	{
		v1 = vmem(r1+#-5)
	}
	{
		v0.w = vadd(v0.w,v1.w)
	}
	.loc	0 27 16 is_stmt 0               // sample.c:27:16
	{
		r1 = add(r29,#2048)
	}
	{
		vmem(r1+#-8) = v0
	}
	.loc	0 29 12 is_stmt 1               // sample.c:29:12
	{
		r1 = add(r29,#2048)
	}
	{
		v1 = vmem(r1+#-8)
	}
	{
		r1 = add(r29,#2048)
	}
	{
		v0 = vmem(r1+#-7)
	}
	{
		q0 = vcmp.gt(v1.uw,v0.uw)
	}
	{
		v0 = vand(q0,r0)
	}
	{
		q0 = vand(v0,r0)
	}
	{
		r1 = add(r29,#2048)
	}
	{
		v0 = vmem(r1+#-6)
	}
	{
		v0.w = vsub(v1.w,v0.w)
	}
	{
		v0 = vmux(q0,v0,v1)
	}
.Ltmp12:
	.loc	0 59 10                         // sample.c:59:10
	{
		r1 = memw(r29+#504)
	}
	.loc	0 59 12 is_stmt 0               // sample.c:59:12
	{
		vmem(r1+#0) = v0
	}
	.loc	0 60 21 is_stmt 1               // sample.c:60:21
	{
		v2 = vmem(r29+#1)
	}
	.loc	0 60 24 is_stmt 0               // sample.c:60:24
	{
		v1 = vmem(r29+#2)
	}
	.loc	0 60 27                         // sample.c:60:27
	{
		v0 = vmem(r29+#6)
	}
	{
		r1 = add(r29,#4096)
	}
	{
		vmem(r1+#3) = v2
	}
	{
		r1 = add(r29,#4096)
	}
	{
		vmem(r1+#2) = v1
	}
	{
		r1 = add(r29,#4096)
	}
	{
		vmem(r1+#1) = v0
	}
.Ltmp13:
	.loc	0 34 20 is_stmt 1               // sample.c:34:20
	{
		r1 = add(r29,#4096)
	}
	{
		v0 = vmem(r1+#3)
	}
	{
		r1 = add(r29,#4096)
	}
	{
		v1 = vmem(r1+#2)
	}
	{
		v0.w = vsub(v0.w,v1.w)
	}
	.loc	0 34 16 is_stmt 0               // sample.c:34:16
	{
		r1 = add(r29,#4096)
	}
	{
		vmem(r1+#0) = v0
	}
	.loc	0 36 12 is_stmt 1               // sample.c:36:12
	{
		r1 = add(r29,#4096)
	}
	{
		v0 = vmem(r1+#2)
	}
	{
		r1 = add(r29,#4096)
	}
	{
		v1 = vmem(r1+#3)
	}
	{
		q0 = vcmp.gt(v0.uw,v1.uw)
	}
	{
		v0 = vand(q0,r0)
	}
	{
		q0 = vand(v0,r0)
	}
	{
		r0 = add(r29,#4096)
	}
	{
		v1 = vmem(r0+#0)
	}
	{
		r0 = add(r29,#4096)
	}
	{
		v0 = vmem(r0+#1)
	}
	{
		v0.w = vadd(v1.w,v0.w)
	}
	{
		v0 = vmux(q0,v0,v1)
	}
.Ltmp14:
	.loc	0 60 10                         // sample.c:60:10
	{
		r0 = memw(r29+#500)
	}
	.loc	0 60 12 is_stmt 0               // sample.c:60:12
	{
		vmem(r0+#0) = v0
	}
	.loc	0 61 5 is_stmt 1                // sample.c:61:5
	{
		jump .LBB1_3
	}
.LBB1_3:                                //   in Loop: Header=BB1_1 Depth=1
	.loc	0 55 33                         // sample.c:55:33
	{
		r0 = memw(r29+#508)
	}
	{
		r0 = add(r0,#32)
	}
	{
		memw(r29+#508) = r0
	}
	.loc	0 55 5 is_stmt 0                // sample.c:55:5
	{
		jump .LBB1_1
	}
.LBB1_4:
	.loc	0 62 1 is_stmt 1                // sample.c:62:1
	{
		r31:30 = dealloc_return(r30):raw
	}
.Ltmp15:
.Lfunc_end1:
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
