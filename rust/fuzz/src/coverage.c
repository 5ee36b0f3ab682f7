// Which edges of the C libraries an input reaches. GCC has no counters of libFuzzer's kind: with -fsanitize-coverage=trace-pc
// it calls __sanitizer_cov_trace_pc at each edge, for which the linker puts this; and libFuzzer takes any counters in a section
// of this name. Without that flag nobody calls any of it.
#include <stdint.h>

enum { COUNTERS = 1 << 15 };

__attribute__((section("__libfuzzer_extra_counters"), used)) static uint8_t counters[COUNTERS];

__attribute__((no_sanitize_coverage, no_sanitize("address"))) void __wrap___sanitizer_cov_trace_pc(void) {
  uintptr_t edge = (uintptr_t)__builtin_return_address(0);
  edge = (edge ^ edge >> 15) % COUNTERS;
  // It stays at its highest: falling back to 0 would be an edge not reached.
  counters[edge] += counters[edge] < 255;
}

// Comparisons of floating-point numbers, which libFuzzer learns nothing from.
__attribute__((no_sanitize_coverage)) void __sanitizer_cov_trace_cmpf(float a, float b) { (void)a, (void)b; }
__attribute__((no_sanitize_coverage)) void __sanitizer_cov_trace_cmpd(double a, double b) { (void)a, (void)b; }
