/* JSON without a schema, as rules.  Source: RFC 8259; of UTF-8: RFC 3629, section 4. */
#include "json_rules.h"

enum { INDENT = 16, INTEGER_DIGITS = 15, FRACTION_DIGITS = 17, EXPONENT_DIGITS = 2 };

static uint32_t byte(struct hx_grammar *g, char c, uint32_t next)
{
    return hx_grammar_range(g, (uint8_t)c, (uint8_t)c, next);
}

/* Or nothing. */
static uint32_t maybe(struct hx_grammar *g, uint32_t way, uint32_t next)
{
    return hx_grammar_either(g, way, next);
}

static uint32_t space_rule(struct hx_grammar *g)
{
    const uint32_t end = hx_grammar_end(g);
    uint32_t indent = end;

    for (int i = 0; i < INDENT; i++)
        indent = maybe(g, byte(g, ' ', indent), end);
    return maybe(g, byte(g, ' ', end), maybe(g, byte(g, '\n', indent), end));
}

/* --- strings */

static uint32_t tail(struct hx_grammar *g, uint32_t next)
{
    return hx_grammar_range(g, 0x80, 0xbf, next);
}

static uint32_t utf8_rule(struct hx_grammar *g, uint32_t end)
{
    const uint32_t one = tail(g, end), two = tail(g, one), three = tail(g, two);
    const struct { uint8_t first, last; uint32_t next; } ways[] = {
        {0xc2, 0xdf, one},
        {0xe0, 0xe0, hx_grammar_range(g, 0xa0, 0xbf, one)},
        {0xe1, 0xec, two},
        {0xed, 0xed, hx_grammar_range(g, 0x80, 0x9f, one)}, /* no surrogates */
        {0xee, 0xef, two},
        {0xf0, 0xf0, hx_grammar_range(g, 0x90, 0xbf, two)},
        {0xf1, 0xf3, three},
        {0xf4, 0xf4, hx_grammar_range(g, 0x80, 0x8f, two)},
    };
    uint32_t way = hx_grammar_range(g, 0x20, 0x21, end);

    way = hx_grammar_either(g, way, hx_grammar_range(g, 0x23, 0x5b, end));
    way = hx_grammar_either(g, way, hx_grammar_range(g, 0x5d, 0x7e, end));
    for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
        way = hx_grammar_either(g, way, hx_grammar_range(g, ways[i].first, ways[i].last, ways[i].next));
    return way;
}

static uint32_t hex_digit(struct hx_grammar *g, uint32_t next)
{
    return hx_grammar_either(g, hx_grammar_range(g, '0', '9', next), hx_grammar_range(g, 'a', 'f', next));
}

/* \n and its kind, and \u0001 .. \u001f: everything else can be written as it is. */
static uint32_t escape(struct hx_grammar *g, uint32_t end)
{
    static const char letters[] = "\"\\/bfnrt";
    const uint32_t from_1 = hx_grammar_either(g, hx_grammar_range(g, '1', '9', end), hx_grammar_range(g, 'a', 'f', end));
    uint32_t way = hx_grammar_text(g, "u00", 3, hx_grammar_either(g, byte(g, '0', from_1), byte(g, '1', hex_digit(g, end))));

    for (const char *c = letters; *c; c++)
        way = hx_grammar_either(g, way, byte(g, *c, end));
    return byte(g, '\\', way);
}

static uint32_t chars_rule(struct hx_grammar *g)
{
    const uint32_t end = hx_grammar_end(g);

    return hx_grammar_either(g, utf8_rule(g, end), escape(g, end));
}

static uint32_t string_rule(struct hx_grammar *g, uint32_t chars)
{
    const uint32_t more = hx_grammar_later(g);

    hx_grammar_define(g, more, hx_grammar_either(g, hx_grammar_call(g, chars, more), byte(g, '"', hx_grammar_end(g))));
    return byte(g, '"', more);
}

/* --- numbers */

static uint32_t digit(struct hx_grammar *g, uint32_t next)
{
    return hx_grammar_range(g, '0', '9', next);
}

/* 0 to n digits. */
static uint32_t digits(struct hx_grammar *g, int n, uint32_t next)
{
    uint32_t way = next;

    while (n--)
        way = maybe(g, digit(g, way), next);
    return way;
}

static uint32_t whole(struct hx_grammar *g, uint32_t next)
{
    const uint32_t from_1 = hx_grammar_range(g, '1', '9', digits(g, INTEGER_DIGITS - 1, next));
    const uint32_t way = hx_grammar_either(g, byte(g, '0', next), from_1);

    return maybe(g, byte(g, '-', way), way);
}

static uint32_t number_rule(struct hx_grammar *g)
{
    const uint32_t end = hx_grammar_end(g);
    const uint32_t power = digit(g, digits(g, EXPONENT_DIGITS - 1, end));
    const uint32_t sign = hx_grammar_either(g, byte(g, '-', power), maybe(g, byte(g, '+', power), power));
    const uint32_t exponent = maybe(g, hx_grammar_either(g, byte(g, 'e', sign), byte(g, 'E', sign)), end);
    const uint32_t fraction = maybe(g, byte(g, '.', digit(g, digits(g, FRACTION_DIGITS - 1, exponent))), exponent);

    return whole(g, fraction);
}

/* --- objects and arrays */

uint32_t hx_json_open(const struct hx_json_rules *r, struct hx_grammar *g, char bracket, uint32_t next)
{
    return byte(g, bracket, hx_grammar_call(g, r->space, next));
}

uint32_t hx_json_close(const struct hx_json_rules *r, struct hx_grammar *g, char bracket, uint32_t next)
{
    return hx_grammar_call(g, r->space, byte(g, bracket, next));
}

uint32_t hx_json_comma(const struct hx_json_rules *r, struct hx_grammar *g, uint32_t next)
{
    return byte(g, ',', hx_grammar_call(g, r->space, next));
}

uint32_t hx_json_colon(const struct hx_json_rules *r, struct hx_grammar *g, uint32_t next)
{
    return byte(g, ':', hx_grammar_call(g, r->space, next));
}

uint32_t hx_json_list(const struct hx_json_rules *r, struct hx_grammar *g, uint32_t element, char bracket, uint32_t next)
{
    const uint32_t more = hx_grammar_later(g), one = hx_grammar_call(g, element, more);

    hx_grammar_define(g, more, hx_grammar_either(g, hx_json_comma(r, g, one), hx_json_close(r, g, bracket, next)));
    return hx_grammar_either(g, one, byte(g, bracket, next));
}

uint32_t hx_json_member(const struct hx_json_rules *r, struct hx_grammar *g, uint32_t value)
{
    return hx_grammar_call(g, r->string, hx_json_colon(r, g, hx_grammar_call(g, value, hx_grammar_end(g))));
}

void hx_json_rules_add(struct hx_json_rules *r, struct hx_grammar *g)
{
    static const char *const words[] = {"true", "false", "null"};
    static const size_t lengths[] = {4, 5, 4};
    const uint32_t end = hx_grammar_end(g);
    uint32_t rules[5], any;

    r->space = space_rule(g);
    r->chars = chars_rule(g);
    r->string = string_rule(g, r->chars);
    r->integer = whole(g, end);
    r->number = number_rule(g);
    r->value = hx_grammar_later(g);
    r->object = hx_json_open(r, g, '{', hx_json_list(r, g, hx_json_member(r, g, r->value), '}', end));
    r->array = hx_json_open(r, g, '[', hx_json_list(r, g, r->value, ']', end));
    rules[0] = r->object;
    rules[1] = r->array;
    rules[2] = r->string;
    rules[3] = r->number;
    any = hx_grammar_call(g, rules[0], end);
    for (int i = 1; i < 4; i++)
        any = hx_grammar_either(g, any, hx_grammar_call(g, rules[i], end));
    for (int i = 0; i < 3; i++)
        any = hx_grammar_either(g, any, hx_grammar_text(g, words[i], lengths[i], end));
    hx_grammar_define(g, r->value, any);
}
