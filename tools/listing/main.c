/* The entry point of hexrig-listing; what it does can be linked into tests without it. */
#include "listing.h"

int main(int argc, char **argv)
{
    return hx_listing_main(argc, argv);
}
