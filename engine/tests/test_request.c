/* placeholder */
#include "unit_test.h"
int main(void) { return 0; }
