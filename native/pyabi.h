/* The functions and types of CPython's stable ABI (3.11) that the extension uses, declared here so that neither
 * `pip install` nor a WebAssembly build needs Python's headers. tests/native checks each declaration against the real
 * headers. Declare only what the limited API of 3.11 includes: then the extension loads in every later Python 3. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef LW_PYABI_CHECK /* in the test, declarations come from the real headers */
#define Py_LIMITED_API 0x030b0000
#include <Python.h>
#include <structmember.h>
#else

#if defined(_WIN32)
#define LW_PYDATA __declspec(dllimport)
#else
#define LW_PYDATA
#endif

typedef intptr_t Py_ssize_t;
typedef Py_ssize_t Py_hash_t;
typedef struct _typeobject PyTypeObject; /* opaque in the limited API */
typedef struct _ts PyThreadState;

typedef struct _object {
    Py_ssize_t ob_refcnt;
    PyTypeObject *ob_type;
} PyObject;

typedef struct PyModuleDef_Base {
    PyObject ob_base;
    PyObject *(*m_init)(void);
    Py_ssize_t m_index;
    PyObject *m_copy;
} PyModuleDef_Base;

typedef PyObject *(*PyCFunction)(PyObject *, PyObject *);
typedef PyObject *(*_PyCFunctionFastWithKeywords)(PyObject *, PyObject *const *, Py_ssize_t, PyObject *);
typedef int (*visitproc)(PyObject *, void *);

typedef struct PyMethodDef {
    const char *ml_name;
    PyCFunction ml_meth;
    int ml_flags;
    const char *ml_doc;
} PyMethodDef;

typedef struct PyGetSetDef {
    const char *name;
    PyObject *(*get)(PyObject *, void *);
    int (*set)(PyObject *, PyObject *, void *);
    const char *doc;
    void *closure;
} PyGetSetDef;

typedef struct PyMemberDef {
    const char *name;
    int type;
    Py_ssize_t offset;
    int flags;
    const char *doc;
} PyMemberDef;

typedef struct PyModuleDef_Slot {
    int slot;
    void *value;
} PyModuleDef_Slot;

typedef struct PyModuleDef {
    PyModuleDef_Base m_base;
    const char *m_name;
    const char *m_doc;
    Py_ssize_t m_size;
    PyMethodDef *m_methods;
    PyModuleDef_Slot *m_slots;
    int (*m_traverse)(PyObject *, visitproc, void *);
    int (*m_clear)(PyObject *);
    void (*m_free)(void *);
} PyModuleDef;

typedef struct PyType_Slot {
    int slot;
    void *pfunc;
} PyType_Slot;

typedef struct PyType_Spec {
    const char *name;
    int basicsize;
    int itemsize;
    unsigned int flags;
    PyType_Slot *slots;
} PyType_Spec;

typedef struct Py_buffer {
    void *buf;
    PyObject *obj;
    Py_ssize_t len;
    Py_ssize_t itemsize;
    int readonly;
    int ndim;
    char *format;
    Py_ssize_t *shape;
    Py_ssize_t *strides;
    Py_ssize_t *suboffsets;
    void *internal;
} Py_buffer;

#define PyObject_HEAD PyObject ob_base;
/* clang-format off */
#define PyModuleDef_HEAD_INIT {{1, NULL}, NULL, 0, NULL}
/* clang-format on */
#define Py_mod_exec 2
#define METH_FASTCALL 0x0080
#define METH_KEYWORDS 0x0002
#define METH_NOARGS 0x0004
#define METH_O 0x0008
#define T_BYTE 8
#define T_BOOL 14
#define T_LONGLONG 17
#define T_PYSSIZET 19
#define READONLY 1
#define Py_LT 0
#define Py_LE 1
#define Py_EQ 2
#define Py_NE 3
#define Py_GT 4
#define Py_GE 5
#define PyBUF_SIMPLE 0
#define PyBUF_READ 0x100
#define PyBUF_WRITE 0x200
#define PyBUF_WRITABLE 0x0001
#define PyBUF_FORMAT 0x0004
#define PyBUF_ND 0x0008
#define PyBUF_STRIDES (0x0010 | PyBUF_ND)
#define PyBUF_C_CONTIGUOUS (0x0020 | PyBUF_STRIDES)
#define PyBUF_F_CONTIGUOUS (0x0040 | PyBUF_STRIDES)
#define PyBUF_ANY_CONTIGUOUS (0x0080 | PyBUF_STRIDES)
#define PyBUF_RECORDS_RO (PyBUF_STRIDES | PyBUF_FORMAT)
#define Py_TPFLAGS_DEFAULT 0
#define Py_TPFLAGS_LONG_SUBCLASS (1UL << 24)
#define Py_TPFLAGS_LIST_SUBCLASS (1UL << 25)
#define Py_TPFLAGS_TUPLE_SUBCLASS (1UL << 26)
#define Py_TPFLAGS_BYTES_SUBCLASS (1UL << 27)
#define Py_TPFLAGS_UNICODE_SUBCLASS (1UL << 28)
#define Py_TPFLAGS_DICT_SUBCLASS (1UL << 29)

/* slot numbers of typeslots.h */
#define Py_bf_getbuffer 1
#define Py_bf_releasebuffer 2
#define Py_mp_ass_subscript 3
#define Py_mp_length 4
#define Py_mp_subscript 5
#define Py_nb_absolute 6
#define Py_nb_add 7
#define Py_nb_and 8
#define Py_nb_bool 9
#define Py_nb_divmod 10
#define Py_nb_float 11
#define Py_nb_floor_divide 12
#define Py_nb_index 13
#define Py_nb_inplace_add 14
#define Py_nb_inplace_and 15
#define Py_nb_inplace_floor_divide 16
#define Py_nb_inplace_lshift 17
#define Py_nb_inplace_multiply 18
#define Py_nb_inplace_or 19
#define Py_nb_inplace_power 20
#define Py_nb_inplace_remainder 21
#define Py_nb_inplace_rshift 22
#define Py_nb_inplace_subtract 23
#define Py_nb_inplace_true_divide 24
#define Py_nb_inplace_xor 25
#define Py_nb_int 26
#define Py_nb_invert 27
#define Py_nb_lshift 28
#define Py_nb_multiply 29
#define Py_nb_negative 30
#define Py_nb_or 31
#define Py_nb_positive 32
#define Py_nb_power 33
#define Py_nb_remainder 34
#define Py_nb_rshift 35
#define Py_nb_subtract 36
#define Py_nb_true_divide 37
#define Py_nb_xor 38
#define Py_sq_contains 41
#define Py_sq_item 44
#define Py_tp_dealloc 52
#define Py_tp_doc 56
#define Py_tp_hash 59
#define Py_tp_iter 62
#define Py_tp_methods 64
#define Py_tp_new 65
#define Py_tp_richcompare 67
#define Py_tp_members 72
#define Py_tp_getset 73
#define Py_nb_matrix_multiply 75
#define Py_nb_inplace_matrix_multiply 76

#ifdef __cplusplus
extern "C" {
#endif

LW_PYDATA extern PyObject _Py_NoneStruct, _Py_NotImplementedStruct, _Py_TrueStruct, _Py_FalseStruct, _Py_EllipsisObject;
LW_PYDATA extern PyTypeObject PyFloat_Type, PyLong_Type, PyBool_Type, PyList_Type, PyTuple_Type, PySlice_Type;
LW_PYDATA extern PyTypeObject PyUnicode_Type, PyByteArray_Type;
LW_PYDATA extern PyObject *PyExc_TypeError, *PyExc_ValueError, *PyExc_IndexError, *PyExc_MemoryError,
    *PyExc_OverflowError, *PyExc_BufferError, *PyExc_RuntimeError, *PyExc_ImportError, *PyExc_AttributeError,
    *PyExc_Exception;

#define Py_None (&_Py_NoneStruct)
#define Py_NotImplemented (&_Py_NotImplementedStruct)
#define Py_True ((PyObject *)&_Py_TrueStruct)
#define Py_False ((PyObject *)&_Py_FalseStruct)
#define Py_Ellipsis (&_Py_EllipsisObject)

void _Py_Dealloc(PyObject *);
static inline void Py_INCREF(PyObject *object) { object->ob_refcnt++; }
static inline PyObject *Py_NewRef(PyObject *object) {
    Py_INCREF(object);
    return object;
}
static inline void Py_DECREF(PyObject *object) {
    if (--object->ob_refcnt == 0) {
        _Py_Dealloc(object);
    }
}
static inline void Py_XINCREF(PyObject *object) {
    if (object) {
        Py_INCREF(object);
    }
}
static inline void Py_XDECREF(PyObject *object) {
    if (object) {
        Py_DECREF(object);
    }
}
static inline PyTypeObject *Py_TYPE(PyObject *object) { return object->ob_type; }

unsigned long PyType_GetFlags(PyTypeObject *);
int PyType_IsSubtype(PyTypeObject *, PyTypeObject *);
PyObject *PyType_FromModuleAndSpec(PyObject *, PyType_Spec *, PyObject *);
PyObject *PyObject_Init(PyObject *, PyTypeObject *);
void *PyObject_Malloc(size_t);
void PyObject_Free(void *);
void PyObject_ClearWeakRefs(PyObject *);
PyObject *PyModuleDef_Init(PyModuleDef *);
int PyModule_AddObjectRef(PyObject *, const char *, PyObject *);
int PyModule_AddFunctions(PyObject *, PyMethodDef *);

PyObject *PyObject_GetAttrString(PyObject *, const char *);
int PyObject_SetAttr(PyObject *, PyObject *, PyObject *);
int PyObject_SetAttrString(PyObject *, const char *, PyObject *);
PyObject *PyObject_CallFunctionObjArgs(PyObject *, ...);
PyObject *PyObject_CallMethod(PyObject *, const char *, const char *, ...);
PyObject *PyObject_Str(PyObject *);
PyObject *PyObject_RichCompare(PyObject *, PyObject *, int);
PyObject *PySeqIter_New(PyObject *);
int PyObject_IsTrue(PyObject *);
Py_hash_t PyObject_HashNotImplemented(PyObject *);
int PyObject_CheckBuffer(PyObject *);
int PyObject_GetBuffer(PyObject *, Py_buffer *, int);
void PyBuffer_Release(Py_buffer *);
PyObject *PyMemoryView_FromMemory(char *, Py_ssize_t, int);
int PyIndex_Check(PyObject *);
Py_ssize_t PyNumber_AsSsize_t(PyObject *, PyObject *);
PyObject *PyNumber_Index(PyObject *);

double PyFloat_AsDouble(PyObject *);
PyObject *PyFloat_FromDouble(double);
PyObject *PyLong_FromLongLong(long long);
PyObject *PyLong_FromUnsignedLongLong(unsigned long long);
PyObject *PyLong_FromSsize_t(Py_ssize_t);
long long PyLong_AsLongLong(PyObject *);
unsigned long long PyLong_AsUnsignedLongLong(PyObject *);
long long PyLong_AsLongLongAndOverflow(PyObject *, int *);
PyObject *PyBool_FromLong(long);
PyObject *PyLong_FromVoidPtr(void *);

PyObject *PyTuple_New(Py_ssize_t);
Py_ssize_t PyTuple_Size(PyObject *);
PyObject *PyTuple_GetItem(PyObject *, Py_ssize_t);
int PyTuple_SetItem(PyObject *, Py_ssize_t, PyObject *);
PyObject *PyList_New(Py_ssize_t);
int PyList_SetItem(PyObject *, Py_ssize_t, PyObject *);
int PyList_Append(PyObject *, PyObject *);
Py_ssize_t PyList_Size(PyObject *);
PyObject *PyList_GetItem(PyObject *, Py_ssize_t);
PyObject *PyDict_New(void);
int PyDict_SetItem(PyObject *, PyObject *, PyObject *);
PyObject *PyDict_GetItemString(PyObject *, const char *);
int PyDict_Next(PyObject *, Py_ssize_t *, PyObject **, PyObject **);
int PySlice_Unpack(PyObject *, Py_ssize_t *, Py_ssize_t *, Py_ssize_t *);
Py_ssize_t PySlice_AdjustIndices(Py_ssize_t, Py_ssize_t *, Py_ssize_t *, Py_ssize_t);

PyObject *PyUnicode_FromString(const char *);
PyObject *PyUnicode_FromFormat(const char *, ...);
const char *PyUnicode_AsUTF8AndSize(PyObject *, Py_ssize_t *);
int PyUnicode_CompareWithASCIIString(PyObject *, const char *);
PyObject *PyBytes_FromStringAndSize(const char *, Py_ssize_t);

PyObject *PyCapsule_New(void *, const char *, void (*)(PyObject *));
void *PyCapsule_GetPointer(PyObject *, const char *);
int PyCapsule_IsValid(PyObject *, const char *);
int PyCapsule_SetName(PyObject *, const char *);

PyObject *PyErr_Format(PyObject *, const char *, ...);
void PyErr_SetString(PyObject *, const char *);
PyObject *PyErr_NoMemory(void);
PyObject *PyErr_Occurred(void);
void PyErr_Clear(void);
int PyErr_ExceptionMatches(PyObject *);
int PyErr_CheckSignals(void);
void PyErr_Fetch(PyObject **, PyObject **, PyObject **);
void PyErr_Restore(PyObject *, PyObject *, PyObject *);
void PyErr_NormalizeException(PyObject **, PyObject **, PyObject **);

typedef enum { PyGILState_LOCKED, PyGILState_UNLOCKED } PyGILState_STATE;
PyGILState_STATE PyGILState_Ensure(void);
void PyGILState_Release(PyGILState_STATE);
PyThreadState *PyGILState_GetThisThreadState(void);
unsigned long PyThread_get_thread_ident(void);
int Py_IsInitialized(void);
PyThreadState *PyEval_SaveThread(void);
void PyEval_RestoreThread(PyThreadState *);

#ifdef __cplusplus
}
#endif
#endif /* LW_PYABI_CHECK */

/* Type checks, like the macros PyLong_Check etc. of the limited API. Most of them test a flag of the type. */
static inline int lw_has_type_flag(PyObject *object, unsigned long flag) {
    return (PyType_GetFlags(Py_TYPE(object)) & flag) != 0;
}
#define lw_is_int(object) lw_has_type_flag((object), Py_TPFLAGS_LONG_SUBCLASS) /* including bool */
#define lw_is_list(object) lw_has_type_flag((object), Py_TPFLAGS_LIST_SUBCLASS)
#define lw_is_tuple(object) lw_has_type_flag((object), Py_TPFLAGS_TUPLE_SUBCLASS)
#define lw_is_string(object) lw_has_type_flag((object), Py_TPFLAGS_UNICODE_SUBCLASS)
#define lw_is_dict(object) lw_has_type_flag((object), Py_TPFLAGS_DICT_SUBCLASS)
#define lw_is_float(object) (Py_TYPE(object) == &PyFloat_Type || PyType_IsSubtype(Py_TYPE(object), &PyFloat_Type))
#define lw_is_bool(object) ((object) == Py_True || (object) == Py_False)
