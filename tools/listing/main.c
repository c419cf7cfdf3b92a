#include "listing.h"

int main(int argc, char **argv)
{
    return hx_listing_main(argc, argv);
}
