/* A CUDA driver made for tests: real threads, and no GPU.
 *
 * It is built as libcuda.so.1 and loaded by the package cuda-bindings in the place of the real one.
 * One thread replays graphs, node by node; host functions are called on it. The memory of the "GPU"
 * cannot be read while nothing runs on it. Kernels are native code that the test registers by the
 * text of their module and their name. Structures are laid out as cuda.h has them (CUDA 12.4 to 13).
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

typedef int R;
enum { OK = 0, INVALID = 1, NO_MEMORY = 2, BAD_PTX = 218, NO_CONTEXT = 201, NOT_FOUND = 500, NOT_READY = 600, NOT_PERMITTED = 800, NOT_SUPPORTED = 801 };
enum { KERNEL = 0, MEMCPY = 1, MEMSET = 2, HOST = 3, EMPTY = 5, CONDITIONAL = 13 };
enum { ILLEGAL_STATE = 401, UNSUPPORTED = 900, INVALIDATED = 901, IMPLICIT = 906 };
enum { IN_HOST = 1, IN_DEVICE = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static __thread int called, contexts;
static int wrong;
static char why[256];

static R say(R r, const char *text) {
  pthread_mutex_lock(&lock);
  wrong++;
  strncpy(why, text, sizeof why - 1);
  pthread_mutex_unlock(&lock);
  return r;
}
#define ENTER(name) do { if (called) return say(NOT_PERMITTED, name " in a host function"); } while (0)
#define ENTER_CONTEXT(name) do { ENTER(name); if (!contexts) return NO_CONTEXT; } while (0)

int fake_wrong(char *text) { strcpy(text, why); return wrong; }

/* -- memory: one stretch, which only what runs may read ------------------------------------------ */

#define ARENA ((size_t)1 << 28)
static char *arena;
static size_t used;
static int open_count;
static pthread_mutex_t memory_lock = PTHREAD_MUTEX_INITIALIZER;

static void open_memory(void) {
  pthread_mutex_lock(&memory_lock);
  if (open_count++ == 0 && used) mprotect(arena, used, PROT_READ | PROT_WRITE);
  pthread_mutex_unlock(&memory_lock);
}
static void close_memory(void) {
  pthread_mutex_lock(&memory_lock);
  if (--open_count == 0 && used) mprotect(arena, used, PROT_NONE);
  pthread_mutex_unlock(&memory_lock);
}
static R MemAlloc(uint64_t *out, size_t size) {
  ENTER_CONTEXT("cuMemAlloc");
  size_t whole = (size + 4095) / 4096 * 4096;
  pthread_mutex_lock(&memory_lock);
  if (!arena) arena = mmap(0, ARENA, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (used + whole > ARENA) { pthread_mutex_unlock(&memory_lock); return NO_MEMORY; }
  char *at = arena + used;
  mprotect(at, whole, PROT_READ | PROT_WRITE);
  memset(at, 0xFF, whole);
  if (!open_count) mprotect(at, whole, PROT_NONE);
  used += whole;
  *out = (uint64_t)at;
  pthread_mutex_unlock(&memory_lock);
  return OK;
}
void fake_arena(uint64_t *span) { span[0] = (uint64_t)arena; span[1] = used; }
static int in_arena(const void *p) { return arena && (const char *)p >= arena && (const char *)p < arena + ARENA; }
static R MemFree(uint64_t at) { ENTER_CONTEXT("cuMemFree"); return in_arena((void *)at) ? OK : INVALID; }

static struct { char *at; size_t size; } locked[4096];
static int locked_count;
static R MemHostRegister(void *at, size_t size, unsigned flags) {
  ENTER_CONTEXT("cuMemHostRegister");
  (void)flags;
  pthread_mutex_lock(&lock);
  if (locked_count < 4096) { locked[locked_count].at = at; locked[locked_count++].size = size; }
  pthread_mutex_unlock(&lock);
  return OK;
}
static R MemHostUnregister(void *at) {
  ENTER_CONTEXT("cuMemHostUnregister");
  R found = 713;
  pthread_mutex_lock(&lock);
  for (int k = 0; k < locked_count; k++)
    if (locked[k].at == at) { locked[k] = locked[--locked_count]; found = OK; break; }
  pthread_mutex_unlock(&lock);
  return found;
}
static R PointerGetAttribute(void *out, int what, uint64_t at) {
  ENTER_CONTEXT("cuPointerGetAttribute");
  int known = in_arena((void *)at), pinned = 0;
  pthread_mutex_lock(&lock);
  for (int k = 0; k < locked_count; k++)
    if ((char *)at >= locked[k].at && (char *)at < locked[k].at + locked[k].size) pinned = 1;
  pthread_mutex_unlock(&lock);
  if (!known && !pinned) return INVALID;
  switch (what) {
  case 2: *(unsigned *)out = pinned ? IN_HOST : IN_DEVICE; return OK;
  case 8: *(unsigned *)out = 0; return OK;
  case 9: *(int *)out = 0; return OK;
  default: return INVALID;
  }
}

/* -- code ---------------------------------------------------------------------------------------- */

typedef struct Body { char *text, *name; void (*run)(void **, unsigned, unsigned); int count; int sizes[64]; struct Body *next; } Body;
static Body *bodies;

void fake_register(const char *text, const char *name, void (*run)(void **, unsigned, unsigned), int count, const int *sizes) {
  Body *body = calloc(1, sizeof *body);
  body->text = strdup(text);
  body->name = strdup(name);
  body->run = run;
  body->count = count;
  memcpy(body->sizes, sizes, count * sizeof *sizes);
  pthread_mutex_lock(&lock);
  body->next = bodies;
  bodies = body;
  pthread_mutex_unlock(&lock);
}
static Body *body_of(const char *text, const char *name) {
  pthread_mutex_lock(&lock);
  Body *body = bodies;
  while (body && (strcmp(body->text, text) || (name && strcmp(body->name, name)))) body = body->next;
  pthread_mutex_unlock(&lock);
  return body;
}
static R ModuleLoadData(void **out, const void *image) {
  ENTER_CONTEXT("cuModuleLoadData");
  *out = body_of(image, 0);
  return *out ? OK : BAD_PTX;
}
static R ModuleGetFunction(void **out, void *module, const char *name) {
  ENTER_CONTEXT("cuModuleGetFunction");
  *out = body_of(((Body *)module)->text, name);
  return *out ? OK : NOT_FOUND;
}

/* -- graphs -------------------------------------------------------------------------------------- */

typedef struct { size_t x, y, z, lod; unsigned type; const void *host; uint64_t device; void *array, *reserved; size_t pitch, height; } End;
typedef struct { End src, dst; size_t width, height, depth; } Memcpy3D;
typedef struct { Body *func; unsigned grid[3], block[3], shared; void **params; void **extra; void *kern, *ctx; } KernelParams;
typedef struct { int flags, reserved; void *ctx; Memcpy3D copy; } MemcpyParams;
typedef struct { void (*fn)(void *); void *data; } HostParams;
typedef struct { uint64_t handle; int type; unsigned size; struct Graph **out; void *ctx; } ConditionalParams;
typedef struct {
  int type, reserved0[3];
  union { long long whole[29]; KernelParams kernel; MemcpyParams memcpy; HostParams host; ConditionalParams conditional; } u;
  long long reserved2;
} NodeParams;
_Static_assert(sizeof(NodeParams) == 256, "CUgraphNodeParams");
_Static_assert(sizeof(Memcpy3D) == 200, "CUDA_MEMCPY3D");

typedef struct Node { int type, count; struct Node **after; Body *body; unsigned blocks, threads; uint64_t *values; Memcpy3D copy; HostParams host; uint64_t handle; int kind; struct Graph *graph, *inside; int done; } Node;
typedef struct Graph { int count, inside; Node **nodes; } Graph;
typedef struct Ready { Graph *graph; int flying; Node *alone; } Ready; /* alone: a launch without a graph */

#define HANDLES 65536
static struct { unsigned value, initial; Graph *graph; int nodes; } handles[HANDLES];
static int handle_count = 1;

void fake_set(uint64_t handle, unsigned value) {
  if (handle == 0 || handle >= (uint64_t)handle_count) say(0, "a handle that there is not");
  else handles[handle].value = value;
}
uint64_t fake_clock(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + t.tv_nsec;
}
static R GraphCreate(Graph **out, unsigned flags) {
  ENTER("cuGraphCreate");
  (void)flags;
  *out = calloc(1, sizeof **out);
  return OK;
}
static void fill(Node *node, const NodeParams *p) {
  switch (p->type) {
  case KERNEL:
    node->body = p->u.kernel.func;
    node->blocks = p->u.kernel.grid[0];
    node->threads = p->u.kernel.block[0];
    if (!node->values) node->values = calloc(node->body->count + 1, 8);
    for (int k = 0; k < node->body->count; k++) memcpy(node->values + k, p->u.kernel.params[k], node->body->sizes[k]);
    break;
  case MEMCPY: node->copy = p->u.memcpy.copy; break;
  case HOST: node->host = p->u.host; break;
  }
}
static int side_is_right(const End *end) {
  return end->type == IN_DEVICE ? in_arena((void *)end->device) : end->type == IN_HOST && !in_arena(end->host);
}
static R GraphAddNode(Node **out, Graph *graph, Node *const *after, const void *data, size_t count, NodeParams *p) {
  ENTER_CONTEXT("cuGraphAddNode");
  (void)data;
  for (size_t k = 0; k < count; k++) {
    if (after[k]->graph != graph) return INVALID;
    for (size_t j = 0; j < k; j++) if (after[j] == after[k]) return INVALID;
  }
  if (graph->inside && p->type == HOST) return NOT_SUPPORTED;
  if (p->type == MEMCPY && !(side_is_right(&p->u.memcpy.copy.src) && side_is_right(&p->u.memcpy.copy.dst))) return INVALID;
  if (p->type == KERNEL && p->u.kernel.block[0] > 1024) return INVALID;
  Node *node = calloc(1, sizeof *node);
  node->type = p->type;
  node->graph = graph;
  node->count = count;
  node->after = calloc(count + 1, sizeof *node->after);
  memcpy(node->after, after, count * sizeof *after);
  fill(node, p);
  if (p->type == CONDITIONAL) {
    node->handle = p->u.conditional.handle;
    node->kind = p->u.conditional.type;
    if (node->handle >= (uint64_t)handle_count || handles[node->handle].graph != graph || handles[node->handle].nodes++) return INVALID;
    node->inside = calloc(1, sizeof *node->inside);
    node->inside->inside = 1;
    /* cuda-bindings reads what the pointer points to after the call, as C programs do */
    p->u.conditional.out = &node->inside;
  }
  graph->nodes = realloc(graph->nodes, (graph->count + 1) * sizeof *graph->nodes);
  graph->nodes[graph->count++] = node;
  *out = node;
  return OK;
}
static R GraphConditionalHandleCreate(uint64_t *out, Graph *graph, void *context, unsigned initial, unsigned flags) {
  ENTER_CONTEXT("cuGraphConditionalHandleCreate");
  (void)context;
  if (flags != 1 || handle_count == HANDLES) return INVALID;
  handles[handle_count].initial = initial;
  handles[handle_count].graph = graph;
  *out = handle_count++;
  return OK;
}
typedef struct { uint64_t flags; void *stream; Node *error; int result; } InstantiateParams;
static Node *empty_body(Graph *graph) {
  for (int k = 0; k < graph->count; k++) {
    Node *node = graph->nodes[k];
    if (!node->inside) continue;
    if (!node->inside->count) return node;
    Node *found = empty_body(node->inside);
    if (found) return found;
  }
  return 0;
}
static R GraphInstantiateWithParams(Ready **out, Graph *graph, InstantiateParams *p) {
  ENTER_CONTEXT("cuGraphInstantiateWithParams");
  p->error = empty_body(graph);
  p->result = 0;
  if (p->error) { p->result = 2; return INVALID; }
  for (int k = 1; k < handle_count; k++)
    if (handles[k].graph == graph && !handles[k].nodes) { p->result = 2; return INVALID; }
  *out = calloc(1, sizeof **out);
  (*out)->graph = graph;
  return OK;
}
static R GraphExecNodeSetParams(Ready *ready, Node *node, NodeParams *p) {
  ENTER_CONTEXT("cuGraphExecNodeSetParams");
  if (node->graph != ready->graph || node->type != p->type) return INVALID;
  if (ready->flying) return say(INVALID, "an update on its way");
  fill(node, p);
  return OK;
}
static R GraphExecDestroy(Ready *ready) {
  ENTER("cuGraphExecDestroy");
  if (ready->flying) say(OK, "a graph is destroyed on its way");
  free(ready);
  return OK;
}
static R GraphDestroy(Graph *graph) {
  ENTER("cuGraphDestroy");
  for (int k = 0; k < graph->count; k++) {
    Node *node = graph->nodes[k];
    if (node->inside) GraphDestroy(node->inside);
    free(node->after);
    free(node->values);
    free(node);
  }
  for (int k = 1; k < handle_count; k++) if (handles[k].graph == graph) handles[k].graph = 0;
  free(graph->nodes);
  free(graph);
  return OK;
}

/* -- running ------------------------------------------------------------------------------------- */

static void move(const Memcpy3D *c) {
  const char *from = c->src.type == IN_HOST ? c->src.host : (char *)c->src.device;
  char *to = c->dst.type == IN_HOST ? (char *)c->dst.host : (char *)c->dst.device;
  for (size_t row = 0; row < (c->height ? c->height : 1); row++) memmove(to + row * c->dst.pitch, from + row * c->src.pitch, c->width);
}
static void run(Graph *graph);
static void run_node(Node *node) {
  void *params[64];
  switch (node->type) {
  case KERNEL:
    for (int k = 0; k < node->body->count; k++) params[k] = node->values + k;
    open_memory();
    node->body->run(params, node->blocks, node->threads);
    close_memory();
    break;
  case MEMCPY:
    open_memory();
    move(&node->copy);
    close_memory();
    break;
  case MEMSET:
    open_memory();
    memset((void *)node->handle, node->kind, node->count);
    close_memory();
    break;
  case HOST:
    called = 1;
    node->host.fn(node->host.data);
    called = 0;
    break;
  case CONDITIONAL:
    if (node->kind == 0) { if (handles[node->handle].value) run(node->inside); }
    else while (handles[node->handle].value) run(node->inside);
    break;
  }
}
static unsigned long chance = 88172645463325252ul;
static void run(Graph *graph) {
  for (int k = 0; k < graph->count; k++) graph->nodes[k]->done = 0;
  for (int left = graph->count; left; left--) {
    Node *next = 0;
    unsigned seen = 0;
    for (int k = 0; k < graph->count; k++) {
      Node *node = graph->nodes[k];
      int ready = !node->done;
      for (int j = 0; j < node->count; j++) ready = ready && node->after[j]->done;
      if (!ready) continue;
      chance ^= chance << 13; chance ^= chance >> 7; chance ^= chance << 17;
      if (chance % ++seen == 0) next = node;
    }
    run_node(next);
    next->done = 1;
  }
}
static void reset(Graph *graph) {
  for (int k = 0; k < graph->count; k++) {
    Node *node = graph->nodes[k];
    if (node->inside) { handles[node->handle].value = handles[node->handle].initial; reset(node->inside); }
  }
}
#define DEPTH 64
static Ready *queue[DEPTH];
static int first, waiting, busy;
static pthread_t worker;

static void *work(void *unused) {
  (void)unused;
  pthread_mutex_lock(&lock);
  for (;;) {
    while (!waiting) pthread_cond_wait(&changed, &lock);
    Ready *ready = queue[first];
    first = (first + 1) % DEPTH;
    waiting--;
    busy = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    if (ready->alone) run_node(ready->alone);
    else { reset(ready->graph); run(ready->graph); }
    pthread_mutex_lock(&lock);
    ready->flying--;
    if (ready->alone) { free(ready->alone->values); free(ready->alone); free(ready); }
    busy = 0;
    pthread_cond_broadcast(&changed);
  }
  return 0;
}
static void submit(Ready *ready) {
  pthread_mutex_lock(&lock);
  if (!worker) pthread_create(&worker, 0, work, 0);
  while (waiting == DEPTH) pthread_cond_wait(&changed, &lock); /* as the real one, when it is full */
  queue[(first + waiting++) % DEPTH] = ready;
  ready->flying++;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}
static R GraphLaunch(Ready *ready, void *stream) {
  ENTER_CONTEXT("cuGraphLaunch");
  (void)stream;
  submit(ready);
  return OK;
}
static Ready *one(int type) {
  Ready *ready = calloc(1, sizeof *ready);
  ready->alone = calloc(1, sizeof *ready->alone);
  ready->alone->type = type;
  return ready;
}
static R MemsetD8Async(uint64_t at, unsigned char byte, size_t size, void *stream) {
  ENTER_CONTEXT("cuMemsetD8Async");
  (void)stream;
  if (!size || !in_arena((void *)at)) return INVALID;
  Ready *ready = one(MEMSET);
  ready->alone->handle = at;
  ready->alone->count = size;
  ready->alone->kind = byte;
  submit(ready);
  return OK;
}
static void wait_idle(void) {
  pthread_mutex_lock(&lock);
  while (waiting || busy) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
}

/* -- capture: one at a time, of one stream ------------------------------------------------------- */

static struct { void *stream; Graph *graph; Node **after; size_t count; int invalid; } capture;

static R StreamBeginCaptureToGraph(void *stream, Graph *graph, Node *const *after, const void *data, size_t count, int mode) {
  ENTER_CONTEXT("cuStreamBeginCaptureToGraph");
  (void)data;
  if (mode != 2 || !stream) return INVALID;
  if (capture.stream) return ILLEGAL_STATE;
  capture.stream = stream;
  capture.graph = graph;
  capture.invalid = 0;
  capture.count = count;
  capture.after = realloc(capture.after, (count + 1) * sizeof *after);
  memcpy(capture.after, after, count * sizeof *after);
  return OK;
}
static R StreamGetCaptureInfo(void *stream, int *status, uint64_t *id, Graph **graph, Node *const **after, const void **data, size_t *count) {
  ENTER_CONTEXT("cuStreamGetCaptureInfo");
  *status = capture.stream != stream ? 0 : capture.invalid ? 2 : 1;
  if (id) *id = 1;
  if (graph) *graph = capture.graph;
  if (after) *after = capture.after;
  static uint64_t edges[1024]; /* whole nodes wait for whole nodes */
  if (data) *data = edges;
  if (count) *count = *status == 1 ? capture.count : 0;
  return OK;
}
static R StreamEndCapture(void *stream, Graph **out) {
  ENTER_CONTEXT("cuStreamEndCapture");
  if (!stream || capture.stream != stream) return ILLEGAL_STATE;
  capture.stream = 0;
  *out = capture.invalid ? 0 : capture.graph;
  return capture.invalid ? INVALIDATED : OK;
}
static R LaunchKernel(Body *body, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream, void **params, void **extra) {
  ENTER_CONTEXT("cuLaunchKernel");
  if (capture.stream && (!stream || capture.invalid)) { capture.invalid = 1; return stream ? INVALIDATED : IMPLICIT; }
  NodeParams p = {.type = KERNEL, .u.kernel = {body, {gx, gy, gz}, {bx, by, bz}, shared, params, extra, 0, 0}};
  if (capture.stream && capture.stream == stream) {
    Node *node;
    R r = GraphAddNode(&node, capture.graph, capture.after, 0, capture.count, &p);
    if (r == OK) { capture.after[0] = node; capture.count = 1; }
    return r;
  }
  if (!gx || gy != 1 || gz != 1 || !bx || bx > 1024 || by != 1 || bz != 1) return INVALID;
  Ready *ready = one(KERNEL);
  fill(ready->alone, &p);
  submit(ready);
  return OK;
}
static R StreamSynchronize(void *stream) {
  ENTER_CONTEXT("cuStreamSynchronize");
  if (capture.stream && capture.stream == stream) { capture.invalid = 1; return UNSUPPORTED; }
  wait_idle();
  return OK;
}
static R CtxSynchronize(void) { ENTER_CONTEXT("cuCtxSynchronize"); wait_idle(); return OK; }
static R StreamQuery(void *stream) {
  ENTER_CONTEXT("cuStreamQuery");
  (void)stream;
  pthread_mutex_lock(&lock);
  int idle = !waiting && !busy;
  pthread_mutex_unlock(&lock);
  return idle ? OK : NOT_READY;
}
static R copy_now(void *to, const void *from, size_t size, int right) {
  if (!right) return INVALID;
  if (capture.stream) { capture.invalid = 1; return IMPLICIT; }
  wait_idle();
  open_memory();
  memmove(to, from, size);
  close_memory();
  return OK;
}
static R MemcpyHtoD(uint64_t to, const void *from, size_t size) { ENTER_CONTEXT("cuMemcpyHtoD"); return copy_now((void *)to, from, size, in_arena((void *)to) && !in_arena(from)); }
static R MemcpyDtoH(void *to, uint64_t from, size_t size) { ENTER_CONTEXT("cuMemcpyDtoH"); return copy_now(to, (void *)from, size, in_arena((void *)from) && !in_arena(to)); }
static R MemcpyDtoD(uint64_t to, uint64_t from, size_t size) { ENTER_CONTEXT("cuMemcpyDtoD"); return copy_now((void *)to, (void *)from, size, in_arena((void *)to) && in_arena((void *)from)); }

/* -- the rest ------------------------------------------------------------------------------------ */

static R Init(unsigned flags) { (void)flags; return OK; }
static R DriverGetVersion(int *out) { const char *v = getenv("FAKE_CUDA"); *out = v ? atoi(v) : 13000; return OK; }
static R DeviceGetCount(int *out) { const char *v = getenv("FAKE_GPUS"); *out = v ? atoi(v) : 1; return OK; }
static R DeviceGet(int *out, int number) { *out = number; return OK; }
static R DeviceGetName(char *out, int size, int device) { (void)device; strncpy(out, "Fake", size); return OK; }
static R DeviceGetAttribute(int *out, int what, int device) {
  (void)device;
  *out = what == 75 ? 9 : what == 76 ? 0 : what == 16 ? 4 : 0;
  return OK;
}
static R DevicePrimaryCtxRetain(void **out, int device) { *out = (void *)(uintptr_t)(100 + device); return OK; }
static __thread void *stack[64];
static R CtxPushCurrent(void *context) { ENTER("cuCtxPushCurrent"); stack[contexts++] = context; return OK; }
static R CtxPopCurrent(void **out) { ENTER_CONTEXT("cuCtxPopCurrent"); void *was = stack[--contexts]; if (out) *out = was; return OK; }
static R CtxGetCurrent(void **out) { ENTER("cuCtxGetCurrent"); *out = contexts ? stack[contexts - 1] : 0; return OK; }
static R StreamCreate(void **out, unsigned flags) { ENTER_CONTEXT("cuStreamCreate"); (void)flags; static uintptr_t next = 77; *out = (void *)next++; return OK; }
static R GetErrorString(int error, const char **out) { (void)error; *out = "said by a driver made for tests"; return OK; }

static struct { const char *name; void *function; } table[] = {
#define F(name) {"cu" #name, (void *)name}
  F(Init), F(DriverGetVersion), F(DeviceGetCount), F(DeviceGet), F(DeviceGetName), F(DeviceGetAttribute), F(DevicePrimaryCtxRetain),
  F(CtxPushCurrent), F(CtxPopCurrent), F(CtxGetCurrent), F(CtxSynchronize), F(MemAlloc), F(MemFree), F(MemHostRegister), F(MemHostUnregister),
  F(PointerGetAttribute), F(MemcpyHtoD), F(MemcpyDtoH), F(MemcpyDtoD), F(ModuleLoadData), F(ModuleGetFunction), F(StreamCreate),
  F(StreamQuery), F(StreamSynchronize), F(GraphCreate), F(GraphDestroy), F(GraphAddNode), F(GraphConditionalHandleCreate),
  F(GraphInstantiateWithParams), F(GraphExecNodeSetParams), F(GraphExecDestroy), F(GraphLaunch), F(GetErrorString),
  F(StreamBeginCaptureToGraph), F(StreamGetCaptureInfo), F(StreamEndCapture), F(LaunchKernel), F(MemsetD8Async),
  {"cuStreamGetCaptureInfo_v3", (void *)StreamGetCaptureInfo},
  {"cuGraphAddNode_v2", (void *)GraphAddNode},
};
R cuGetProcAddress_v2(const char *name, void **out, int version, uint64_t flags, int *status) {
  (void)version; (void)flags;
  for (size_t k = 0; k < sizeof table / sizeof *table; k++)
    if (!strcmp(table[k].name, name)) { *out = table[k].function; if (status) *status = 0; return OK; }
  *out = 0;
  if (status) *status = 1;
  return NOT_FOUND;
}
R cuGetProcAddress(const char *name, void **out, int version, uint64_t flags) { return cuGetProcAddress_v2(name, out, version, flags, 0); }
