//! Runs a model from four threads of Rust through the library for C, without further crates:
//! `rustc --edition 2021 main.rs -L LIBRARY -l torchjit && ./main model.pt`.
use std::ffi::{c_char, c_int, c_void, CStr, CString};
use std::{error, fmt, ptr, thread};

/// What is used of torchjit.h.
mod raw {
    use super::{c_char, c_int, c_void};

    #[repr(C)]
    pub struct Error {
        pub fault: i32,
        pub line: i32,
        pub column: i32,
        pub message: *mut c_char,
        pub file: *mut c_char,
    }

    #[repr(C)]
    pub struct Argument {
        pub name: *const c_char,
        pub kind: i32,
        pub tensor: u64,
        pub integer: i64,
        pub number: f64,
        pub text: *const c_char,
    }

    #[repr(C)]
    pub struct Info {
        pub dtype: i32,
        pub ndim: i32,
        pub shape: [i64; 64],
        pub bytes: usize,
    }

    pub const TENSOR: i32 = 1;
    pub const FLOAT32: i32 = 6;

    extern "C" {
        pub fn tj_error_clear(error: *mut Error);
        pub fn tj_release(object: u64);
        pub fn tj_load(path: *const c_char, model: *mut u64, error: *mut Error) -> c_int;
        pub fn tj_call(model: u64, method: *const c_char, arguments: *const Argument, count: i32, options: *const c_void, result: *mut u64, error: *mut Error) -> c_int;
        pub fn tj_result_tensor(result: u64, output: i32, tensor: *mut u64, error: *mut Error) -> c_int;
        pub fn tj_tensor_new(data: *const c_void, shape: *const i64, ndim: i32, dtype: i32, tensor: *mut u64, error: *mut Error) -> c_int;
        pub fn tj_tensor_info(tensor: u64, info: *mut Info, error: *mut Error) -> c_int;
        pub fn tj_tensor_read(tensor: u64, to: *mut c_void, bytes: usize, error: *mut Error) -> c_int;
    }
}

/// Why a call failed, with the place in the model's program where one is known.
#[derive(Debug)]
struct Failure {
    message: String,
    place: Option<(String, i32)>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match &self.place {
            Some((file, line)) => write!(f, "{file}:{line}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl error::Error for Failure {}

fn owned(text: *const c_char) -> String {
    // SAFETY: the library's texts end with a zero.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Makes a result of what a function of the library says.
fn check(call: impl FnOnce(*mut raw::Error) -> c_int) -> Result<(), Failure> {
    let mut error = raw::Error { fault: 0, line: 0, column: 0, message: ptr::null_mut(), file: ptr::null_mut() };
    if call(&mut error) == 0 {
        return Ok(());
    }
    let place = (!error.file.is_null()).then(|| (owned(error.file), error.line));
    let failure = Failure { message: owned(error.message), place };
    // SAFETY: the error is one that the library has filled.
    unsafe { raw::tj_error_clear(&mut error) };
    Err(failure)
}

/// An object of the library: a model, a tensor or a result. Any thread may use it.
struct Object(u64);

impl Drop for Object {
    fn drop(&mut self) {
        // SAFETY: the number is an object's, and this is its only owner.
        unsafe { raw::tj_release(self.0) }
    }
}

fn load(path: &str) -> Result<Object, Failure> {
    let path = CString::new(path).expect("a path has no zero in it");
    let mut model = 0;
    // SAFETY: the pointers are valid during the call.
    check(|error| unsafe { raw::tj_load(path.as_ptr(), &mut model, error) })?;
    Ok(Object(model))
}

fn tensor(data: &[f32], shape: &[i64]) -> Result<Object, Failure> {
    assert_eq!(data.len() as i64, shape.iter().product::<i64>());
    let mut made = 0;
    // SAFETY: the slice has as many elements as the shape; the library copies them.
    check(|error| unsafe { raw::tj_tensor_new(data.as_ptr().cast(), shape.as_ptr(), shape.len() as i32, raw::FLOAT32, &mut made, error) })?;
    Ok(Object(made))
}

/// Calls forward of a model with a tensor and returns the elements of the tensor that it gives.
fn forward(model: &Object, x: &Object) -> Result<Vec<f32>, Failure> {
    let x = raw::Argument { name: ptr::null(), kind: raw::TENSOR, tensor: x.0, integer: 0, number: 0.0, text: ptr::null() };
    let (mut result, mut tensor) = (0, 0);
    // SAFETY: the pointers are valid during the calls, and the vector has room for the bytes that the library says.
    unsafe {
        check(|error| raw::tj_call(model.0, c"forward".as_ptr(), &x, 1, ptr::null(), &mut result, error))?;
        let result = Object(result);
        check(|error| raw::tj_result_tensor(result.0, 0, &mut tensor, error))?;
        let tensor = Object(tensor);
        let mut info = raw::Info { dtype: 0, ndim: 0, shape: [0; 64], bytes: 0 };
        check(|error| raw::tj_tensor_info(tensor.0, &mut info, error))?;
        assert_eq!(info.dtype, raw::FLOAT32);
        let mut elements = vec![0.0f32; info.bytes / 4];
        check(|error| raw::tj_tensor_read(tensor.0, elements.as_mut_ptr().cast(), info.bytes, error))?;
        Ok(elements)
    }
}

fn main() -> Result<(), Failure> {
    let model = load(&std::env::args().nth(1).expect("expected the path of a model"))?;
    thread::scope(|scope| {
        let calls: Vec<_> = (0..4).map(|_| scope.spawn(|| forward(&model, &tensor(&[0.0; 144], &[1, 1, 12, 12])?))).collect();
        for (i, call) in calls.into_iter().enumerate() {
            println!("thread {i}: {:.4}", call.join().expect("the thread ends")?[0]);
        }
        Ok(())
    })?;
    if let Err(failure) = forward(&model, &tensor(&[1.0, 2.0, 3.0], &[1, 3])?) {
        println!("{failure}");
    }
    Ok(())
}
