// Written by hand for test_listing.c: the same loops in the order of the source.
	.text
operands:                               // @operands
// %bb.0:
	{
		jumpr r31
	}
.Lfunc_end0:
nest:                                   // @nest
// %bb.0:
	.loc	1 20 5                          // corners.c:20:5
	{
		jump .LBB1_1
	}
.LBB1_1:                                // =>This Loop Header: Depth=1
                                        //     Child Loop BB1_2 Depth 2
	.loc	1 22 5                          // corners.c:22:5
	{
		r0 = memw(r29+#4)
	}
.LBB1_2:                                //   Parent Loop BB1_1 Depth=1
                                        // =>  This Inner Loop Header: Depth=2
	.loc	1 23 9                          // corners.c:23:9
	{
		r0 = memw(r29+#8)
	}
	{
		r0 = add(r0,#1)
	}
	{
		jump .LBB1_2
	}
.LBB1_3:                                //   in Loop: Header=BB1_1 Depth=1
	.loc	1 25 5                          // corners.c:25:5
	{
		jump .LBB1_1
	}
.LBB1_4:                                // =>This Inner Loop Header: Depth=1
	.loc	1 30 5                          // corners.c:30:5
	{
		v0 = vmem(r29+#1)
	}
	{
		vmem(r29+#1) = v0
	}
	{
		call nest
	}
	{
		jump .LBB1_4
	}
.LBB1_5:
	{
		jumpr r31
	}
.Lfunc_end1:
