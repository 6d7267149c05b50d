/* Limits the elements of a matrix that are in [low, high) to LIMIT, scales them and adds them up. Counts references to
 * the matrix. */
#include "total.h"

static int references;
enum { false, true };

static double min_double(double a, double b) { return a < b ? a : b; }

static void matrix_retain(void) { references += 1; }

static void matrix_release(void) { references -= 1; }

int total_references(void) { return references; }

double total(const double *x, int rows, int columns, int row_stride, int column_stride, double low, double high) {
    _Bool any = false;
    double sum = 0;
    matrix_retain();
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            double value = x[i * row_stride + j * column_stride];
            if (value >= low && value < high) {
                sum += min_double(value, LIMIT) * 1.5;
                any = true;
            }
        }
    }
    matrix_release();
    return any ? sum + SHIFT : -1;
}
