/* decimal.c - see common.h. Printing computes with integers only; reading uses the C library. */
#include "stages/formats/common/common.h"

#include <stdlib.h>

__extension__ typedef unsigned __int128 u128;

/* Nine digits distinguish every float from its neighbours. Fixed point with POINT fraction bits. */
enum { DIGITS = 9, POINT = 32 };

/*
 * Upper limit of the error of a scaled value, in units of 2^-POINT: 2^30 (the value) * 2^-57 * 2^32
 * = 2^5, and as much again for truncations.
 */
static const uint64_t error_max = 64;

static const uint32_t tens[DIGITS + 1] = {
	1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000};

/* --- powers of ten ---------------------------------------------------------------------------- */

/* floor(log2(10^k)), exact for |k| < 400: 217706 / 2^16 = 3.3219299, log2(10) = 3.3219281. */
static int power_exponent(int k)
{
	return (k * 217706) >> 16;
}

static uint64_t power_of(const struct sl_powers *p, int k)
{
	return p->power[k - SL_POWER_LEAST];
}

/* The high 64 bits of a product, rounded; the product is doubled if its top bit is 0. */
static uint64_t times(uint64_t a, uint64_t b)
{
	u128 product = (u128)a * b;

	if (!(product >> 127))
		product <<= 1;
	return (uint64_t)((product + ((u128)1 << 63)) >> 64);
}

/* From 10^0 upwards by factors of 10, and downwards by factors of 1/10. */
void sl_powers_make(struct sl_powers *p)
{
	const uint64_t ten = (uint64_t)10 << 60, tenth = 0xcccccccccccccccdu;
	uint64_t *one = &p->power[-SL_POWER_LEAST];

	*one = (uint64_t)1 << 63;
	for (int k = 1; k <= SL_POWER_MAX; k++)
		one[k] = times(one[k - 1], ten);
	for (int k = -1; k >= SL_POWER_LEAST; k--)
		one[k] = times(one[k + 1], tenth);
}

/* --- printing --------------------------------------------------------------------------------- */

/* A decimal number: digits * 10^exponent. */
struct decimal {
	uint32_t digits;
	int exponent;
};

/* A float as significand * 2^exponent, with bit 23 of the significand set. */
struct float_parts {
	uint32_t significand;
	int exponent;
	int lost; /* bits by which a denormal was shifted: its precision is that much lower */
	bool even_power; /* a power of two: its lower neighbour is half as far as the upper one */
};

static struct float_parts take_apart(uint32_t bits)
{
	struct float_parts f = {bits & 0x7fffffu, (int)(bits >> 23 & 0xff) - 150, 0, false};

	if (f.exponent > -150) {
		f.even_power = f.significand == 0 && f.exponent > -149;
		f.significand |= 0x800000u;
		return f;
	}
	f.exponent++;
	while (!(f.significand & 0x800000u)) {
		f.significand <<= 1;
		f.exponent--;
		f.lost++;
	}
	return f;
}

/* A float scaled to DIGITS digits before the point, and the distances to the midpoints. */
struct scaled {
	uint64_t value, below, above; /* in units of 2^-POINT */
	int exponent;                 /* the float is value * 10^exponent */
};

/* significand * 2^exponent * 10^k, in units of 2^-POINT. */
static uint64_t scale(const struct sl_powers *p, const struct float_parts *f, int k)
{
	u128 product = (u128)f->significand * power_of(p, k);

	return (uint64_t)(product >> (63 - POINT - f->exponent - power_exponent(k)));
}

static struct scaled scale_to_digits(const struct sl_powers *p, const struct float_parts *f)
{
	/* log10(2) is about 1233 / 4096: the first digit is that of 10^magnitude or one less. */
	int magnitude = ((f->exponent + 23) * 1233 >> 12) + 1;
	struct scaled s = {.value = scale(p, f, DIGITS - 1 - magnitude)};

	if (s.value >> POINT < tens[DIGITS - 1]) {
		magnitude--;
		s.value = scale(p, f, DIGITS - 1 - magnitude);
	}
	s.exponent = magnitude - (DIGITS - 1);
	s.above = power_of(p, -s.exponent) >>
	          (63 - POINT - f->exponent - power_exponent(-s.exponent));
	s.above = f->lost ? (s.above << f->lost) / 2 : s.above / 2;
	s.below = f->even_power ? s.above / 2 : s.above;
	return s;
}

/* Rounds to DIGITS - cut digits. True if the result is certainly between the midpoints. */
static inline bool round_off(const struct scaled *s, int cut, struct decimal *d)
{
	uint64_t unit = (uint64_t)tens[cut] << POINT;
	uint32_t digits = (uint32_t)((s->value + unit / 2) >> POINT) / tens[cut];
	uint64_t at = digits * unit;

	*d = (struct decimal){digits, s->exponent + cut};
	return at > s->value ? at - s->value + error_max < s->above
	                     : s->value - at + error_max < s->below;
}

/*
 * The fewest digits that suffice. Most floats need 8 or 9: if 6 fail, fewer are not tried, and the
 * others without branches, which no processor could predict.
 */
static struct decimal shortest(const struct scaled *s)
{
	struct decimal d, seven, eight;

	if (round_off(s, DIGITS - 6, &d)) {
		for (int cut = DIGITS - 1; !round_off(s, cut, &d); cut--)
			;
	} else {
		const bool is_seven = round_off(s, DIGITS - 7, &seven);
		const bool is_eight = round_off(s, DIGITS - 8, &eight);

		(void)round_off(s, 0, &d);
		d = is_seven ? seven : is_eight ? eight : d;
	}
	while (d.digits % 10 == 0) { /* rounded up, as 9.99 to 10.0 */
		d.digits /= 10;
		d.exponent++;
	}
	return d;
}

/* Two digits at a time. */
size_t sl_print_u64(uint64_t v, char *text)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";
	char digits[SL_U64_TEXT_BYTES + 1], *end = digits + sizeof(digits), *at = end;

	for (; v >= 10; v /= 100)
		memcpy(at -= 2, pairs + v % 100 * 2, 2);
	if (v > 0 || at == end)
		*--at = (char)('0' + v);
	memcpy(text, at, (size_t)(end - at));
	return (size_t)(end - at);
}

static size_t put(char *text, const char *what)
{
	size_t n = strlen(what);

	memcpy(text, what, n);
	return n;
}

static size_t zeros(char *text, int n)
{
	memset(text, '0', (size_t)n);
	return (size_t)n;
}

/* Prints as 1200, 1.2 or 0.0012; first is the power of ten of the first digit. */
static size_t print_plain(const char *digits, int n, int first, char *text)
{
	size_t used = 0;

	if (first < 0) {
		used = put(text, "0.");
		used += zeros(text + used, -first - 1);
		memcpy(text + used, digits, (size_t)n);
		return used + (size_t)n;
	}
	if (first >= n - 1) {
		memcpy(text, digits, (size_t)n);
		return (size_t)n + zeros(text + n, first + 1 - n);
	}
	used = (size_t)first + 1;
	memcpy(text, digits, used);
	text[used] = '.';
	memcpy(text + used + 1, digits + used, (size_t)n - used);
	return (size_t)n + 1;
}

/* Prints as 1.2e9 or 1.2e-12. */
static size_t print_power(const char *digits, int n, int first, char *text)
{
	size_t used = print_plain(digits, n, 0, text);

	text[used++] = 'e';
	if (first < 0)
		text[used++] = '-';
	return used + sl_print_u64((uint64_t)(first < 0 ? -first : first), text + used);
}

static size_t print_decimal(struct decimal d, char *text)
{
	char digits[SL_U64_TEXT_BYTES];
	int n = (int)sl_print_u64(d.digits, digits);
	int first = d.exponent + n - 1;

	return -5 < first && first < DIGITS ? print_plain(digits, n, first, text)
	                                    : print_power(digits, n, first, text);
}

size_t sl_print_f32(const struct sl_powers *p, float v, char *text)
{
	struct float_parts f;
	struct scaled s;
	uint32_t bits, size;
	size_t used = 0;

	memcpy(&bits, &v, sizeof(bits));
	size = bits & 0x7fffffffu;
	if (size > 0x7f800000u)
		return put(text, "nan");
	if (bits != size)
		text[used++] = '-';
	if (size == 0x7f800000u)
		return used + put(text + used, "inf");
	if (size == 0)
		return used + put(text + used, "0");
	f = take_apart(size);
	s = scale_to_digits(p, &f);
	return used + print_decimal(shortest(&s), text + used);
}

/* --- parsing ---------------------------------------------------------------------------------- */

bool sl_parse_u64(const char *text, size_t length, uint64_t *v)
{
	uint64_t sum = 0;

	if (length == 0 || (length > 1 && text[0] == '0'))
		return false;
	for (size_t i = 0; i < length; i++) {
		unsigned digit = (unsigned)(text[i] - '0');

		if (digit > 9 || sum > (UINT64_MAX - digit) / 10)
			return false;
		sum = sum * 10 + digit;
	}
	*v = sum;
	return true;
}

/*
 * The float nearest to a text. 0 if the text is longer than any that sl_print_f32() prints. Digits
 * of that number and the power of ten are exact as doubles, so their ratio is the nearest double.
 */
static float guess(const char *text, size_t length)
{
	static const double power[SL_F32_TEXT_BYTES] = {
		1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14};
	char copy[SL_F32_TEXT_BYTES + 1];
	size_t i = 0, point = length;
	uint64_t digits = 0;

	if (length > SL_F32_TEXT_BYTES)
		return 0;
	for (; i < length && (text[i] == '.' || (text[i] >= '0' && text[i] <= '9')); i++)
		if (text[i] == '.')
			point = i + 1;
		else
			digits = digits * 10 + (uint64_t)(text[i] - '0');
	if (i == length)
		return (float)((double)digits / power[length - point]);
	memcpy(copy, text, length);
	copy[length] = '\0';
	return strtof(copy, NULL);
}

/* The guess is confirmed by printing it: the result must be the same text. */
bool sl_parse_f32(const struct sl_powers *p, const char *text, size_t length, float *v)
{
	bool minus = length > 0 && text[0] == '-';
	char again[SL_F32_TEXT_BYTES];
	float size = guess(text + minus, length - minus);
	size_t n;

	*v = minus ? -size : size;
	n = sl_print_f32(p, *v, again);
	return n == length && memcmp(again, text, n) == 0;
}
