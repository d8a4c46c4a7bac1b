/* A library that stands for libcuda when a program is linked and finds the real
 * one when it runs. So the program links on a machine without a GPU and starts
 * on one: each function of functions.h jumps to the driver's or, where there is
 * none, answers CUDA_ERROR_NO_DEVICE.
 *
 * cuInit does nothing and succeeds here, for gorgonia.org/cu calls it before main
 * and ends the process if it fails. The real one takes a good part of a second,
 * so it waits until w2vcl_start_driver is called. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

enum { no_device = 100 };

static int absent(void) { return no_device; }

#define DRIVER(name) \
	__attribute__((visibility("hidden"))) void *w2vcl_##name = (void *)absent;
#include "functions.h"
#undef DRIVER

/* A jump leaves the arguments where they are. */
#if defined(__x86_64__)
#define JUMP(name) "jmp *w2vcl_" #name "(%rip)\n"
#elif defined(__aarch64__)
#define JUMP(name) "adrp x16, w2vcl_" #name "\n ldr x16, [x16, :lo12:w2vcl_" #name "]\n br x16\n"
#else
#error "no jump for this processor"
#endif

#define DRIVER(name) \
	__asm__(".text\n.globl " #name "\n.type " #name ", %function\n" #name ":\n" JUMP(name) ".size " #name ", .-" #name "\n");
#include "functions.h"
#undef DRIVER

/* Starts the driver; call it once. It returns a message of what is wrong, or "". */
const char *w2vcl_start_driver(void) {
	static char error[256];
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
	if (!driver) {
		snprintf(error, sizeof error, "there is no NVIDIA driver: %s", dlerror());
		return error;
	}
	int (*init)(unsigned) = (int (*)(unsigned))dlsym(driver, "cuInit");
	int result = init ? init(0) : no_device;
	if (result != 0) {
		snprintf(error, sizeof error, "the NVIDIA driver does not start: error %d of cuInit", result);
		return error;
	}
	void *f;
#define DRIVER(name) if ((f = dlsym(driver, #name))) w2vcl_##name = f;
#include "functions.h"
#undef DRIVER
	return error;
}

int cuInit(unsigned flags) { return (void)flags, 0; }
