#ifndef SUB_UNIT_H
#define SUB_UNIT_H
typedef short unit_t;
#endif
