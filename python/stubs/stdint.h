/* SPDX-License-Identifier: Apache-2.0 */
/* cffi knows these types. */
